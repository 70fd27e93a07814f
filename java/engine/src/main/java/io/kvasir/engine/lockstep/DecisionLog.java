package io.kvasir.engine.lockstep;

import io.kvasir.engine.adp.RankState;
import io.kvasir.model.Digest64;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;

/**
 * The decisions of a member since the last agreement, with their inputs: the states of the ranks,
 * the requests in routing order, their matches and their placements.
 *
 * <p>A state costs at most nine folds, a request three, and each of its matches one. Memory is
 * allocated only when the number of requests between two gathers reaches a new maximum.
 *
 * <p>Confined to one thread.
 */
public final class DecisionLog {

  /** Bytes of one request in the encoded contents. */
  static final int REQUEST_BYTES = 3 * Long.BYTES + Integer.BYTES;

  private static final int NOT_PLACED = -1;

  private long history = Digest64.EMPTY;
  private long states = Digest64.EMPTY;
  private int size;
  private int batchStart;
  private long[] ids = new long[16];
  private long[] contents = new long[16];
  private long[] matches = new long[16];
  private int[] ranks = new int[16];

  /** Creates an empty log. */
  public DecisionLog() {}

  /**
   * Begins a batch; the states it is routed on follow.
   *
   * @param liveRanks number of states
   */
  public void beginBatch(int liveRanks) {
    states = Digest64.fold(states, liveRanks);
    batchStart = size;
  }

  /**
   * Adds a rank's state, as the router reads it.
   *
   * @param state the state
   */
  public void state(RankState state) {
    states = Digest64.fold(states, (long) state.rank() << 32 | state.activeRequests());
    states = Digest64.fold(states, state.activeTokens());
    states = Digest64.fold(states, state.queuedBlocks());
    if (state.occupancy() != null) {
      states = Digest64.fold(states, state.occupancy().availableBlocks());
      states = Digest64.fold(states, state.occupancy().freeBlocks());
      states = Digest64.fold(states, state.occupancy().oldestEvictableTick());
    }
    if (state.work() != null) {
      states = Digest64.fold(states, state.work().prefillTokens());
      states = Digest64.fold(states, Double.doubleToLongBits(state.work().attendedPairs()));
      states = Digest64.fold(states, state.work().decodeKvTokens());
    }
  }

  /**
   * Adds the next request of the batch, in the order in which the router receives them.
   *
   * @param id its id
   * @param content a digest of all its other properties that routers read
   */
  public void request(long id, long content) {
    if (size == ids.length) {
      ids = Arrays.copyOf(ids, size * 2);
      contents = Arrays.copyOf(contents, size * 2);
      matches = Arrays.copyOf(matches, size * 2);
      ranks = Arrays.copyOf(ranks, size * 2);
    }
    ids[size] = id;
    contents[size] = content;
    matches[size] = Digest64.EMPTY;
    ranks[size++] = NOT_PLACED;
  }

  /**
   * Adds the match of the last request on the next rank.
   *
   * @param tokens matched tokens
   */
  public void match(int tokens) {
    matches[size - 1] = Digest64.fold(matches[size - 1], tokens);
  }

  /**
   * Adds the placement of a request of the batch.
   *
   * @param requestIndex its index in the batch
   * @param rank the rank
   * @throws IndexOutOfBoundsException if the batch has no such request
   */
  public void placed(int requestIndex, int rank) {
    ranks[batchStart + Objects.checkIndex(requestIndex, size - batchStart)] = rank;
  }

  /** A digest of all decisions since the group started. O(requests in the log). */
  long digest() {
    long digest = Digest64.fold(history, states);
    for (int i = 0; i < size; i++) {
      digest = Digest64.fold(digest, ids[i]);
      digest = Digest64.fold(digest, contents[i]);
      digest = Digest64.fold(digest, matches[i] ^ ranks[i]);
    }
    return digest;
  }

  /** Records that all members have this digest, and drops the entries that led to it. */
  void agree(long digest) {
    history = digest;
    states = Digest64.EMPTY;
    size = 0;
    batchStart = 0;
  }

  /** Bytes of the encoded contents with at most {@code maxRequests} requests. */
  int contentBytes(int maxRequests) {
    return 2 * Long.BYTES + Integer.BYTES + Math.min(size, maxRequests) * REQUEST_BYTES;
  }

  /** Writes the contents of the digest. */
  void writeContents(ByteBuffer to, int maxRequests) {
    int count = Math.min(size, maxRequests);
    to.putLong(history).putLong(states).putInt(count);
    for (int i = 0; i < count; i++) {
      to.putLong(ids[i]).putLong(contents[i]).putLong(matches[i]).putInt(ranks[i]);
    }
  }
}
