package io.kvasir.engine.adp;

import io.kvasir.model.Digest64;
import it.unimi.dsi.fastutil.Hash;
import it.unimi.dsi.fastutil.objects.Object2IntLinkedOpenCustomHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The rank that each of the most recently used conversations is bound to.
 *
 * <p>All operations are O(1) in the number of conversations and linear in the id's length. An entry
 * takes 16 bytes in a table with a load factor between 3/8 and 3/4, which is 21 to 43 bytes, plus
 * the id's string. Memory is allocated only when the table grows.
 *
 * <p>Not thread-safe.
 */
final class ConversationBindings {

  /** No rank. */
  static final int UNBOUND = -1;

  /**
   * A polynomial in the id's characters modulo the prime 2^61 - 1, at a random secret point.
   * Clients choose conversation ids and must not be able to construct colliding ones. The order of
   * entries does not depend on the point, so processes need not share it.
   */
  private static final class KeyedHash implements Hash.Strategy<String> {
    private static final long PRIME = (1L << 61) - 1;
    private final long point = ThreadLocalRandom.current().nextLong(1L << 32, PRIME);

    @Override
    public int hashCode(String id) {
      long hash = id.length();
      for (int i = 0; i < id.length(); i++) {
        hash = multiply(hash, point) + id.charAt(i) + 1;
        hash = hash >= PRIME ? hash - PRIME : hash;
      }
      return Long.hashCode(multiply(hash, point));
    }

    private static long multiply(long a, long b) {
      long low = a * b;
      long high = Math.multiplyHigh(a, b);
      long sum = (low & PRIME) + ((low >>> 61) | (high << 3));
      return sum >= PRIME ? sum - PRIME : sum;
    }

    @Override
    public boolean equals(String a, String b) {
      return a == null ? b == null : a.equals(b);
    }
  }

  private final int maxSessions;
  private final Object2IntLinkedOpenCustomHashMap<String> ranks =
      new Object2IntLinkedOpenCustomHashMap<>(new KeyedHash());

  private long digest = Digest64.EMPTY;

  ConversationBindings(int maxSessions) {
    this.maxSessions = maxSessions;
    ranks.defaultReturnValue(UNBOUND);
  }

  /** The rank of a conversation, or {@link #UNBOUND}. Does not count as a use. */
  int rank(String id) {
    return ranks.getInt(id);
  }

  /** Makes a bound conversation the most recently used one. */
  void touch(String id) {
    ranks.getAndMoveToLast(id);
    digest = Digest64.fold(digest, id);
  }

  /** Binds a conversation to a rank; evicts the least recently used one if the table is full. */
  void bind(String id, int rank) {
    ranks.putAndMoveToLast(id, rank);
    digest = Digest64.fold(Digest64.fold(digest, id), rank);
    if (ranks.size() > maxSessions) {
      ranks.removeFirstInt();
    }
  }

  /**
   * A digest of all uses and bindings in order. They determine the bindings and their eviction
   * order.
   */
  long digest() {
    return digest;
  }

  /** A copy, least recently used first. O(size). */
  Map<String, Integer> toMap() {
    return new LinkedHashMap<>(ranks);
  }
}
