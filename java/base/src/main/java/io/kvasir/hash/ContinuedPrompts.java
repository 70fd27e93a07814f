package io.kvasir.hash;

import io.kvasir.model.Digest64;
import it.unimi.dsi.fastutil.longs.Long2LongLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;

/**
 * Recognises the conversations of requests without conversation ids: a request continues the
 * conversation whose last prompt it begins with, to the end of that prompt's last full block.
 *
 * <p>Equal histories of calls give equal keys. Not thread-safe.
 */
public final class ContinuedPrompts {

  /** Key of a request that belongs to no known conversation and begins none. */
  public static final long NONE = 0;

  /** Hashes at the end of a prompt that are searched for the last turn. */
  private static final int LONGEST_TURN = 512;

  /** Keys of conversations, by the hash of the last full block of their last prompt. */
  private final Long2LongLinkedOpenHashMap keys = new Long2LongLinkedOpenHashMap();

  /** That hash, by the conversation's key. */
  private final Long2LongOpenHashMap ends = new Long2LongOpenHashMap();

  private final int most;

  /** Conversations begun so far. */
  private long begun;

  /**
   * Begins without conversations.
   *
   * @param most conversations that are remembered, at least 1; those unseen for longest are
   *     forgotten
   */
  public ContinuedPrompts(int most) {
    this.most = most;
    keys.defaultReturnValue(NONE);
    ends.defaultReturnValue(NONE);
  }

  /**
   * The conversation that a prompt continues, or else begins. O(blocks of a turn).
   *
   * @param hashes sequence hashes of the prompt's full blocks
   * @return its key; {@link #NONE} for a prompt without a full block
   */
  public long key(long[] hashes) {
    long known = knownKey(hashes);
    return known == NONE ? newKey(hashes) : known;
  }

  /**
   * The known conversation that a prompt continues. O(blocks of a turn).
   *
   * @param hashes sequence hashes of the prompt's full blocks
   * @return its key; {@link #NONE} for none
   */
  public long knownKey(long[] hashes) {
    int first = Math.max(0, hashes.length - LONGEST_TURN);
    for (int i = hashes.length - 1; i >= first; i--) {
      long key = keys.get(hashes[i]);
      if (key != NONE) {
        return key;
      }
    }
    return NONE;
  }

  /**
   * The conversation that a prompt begins, whatever other prompts begin like it. O(1).
   *
   * @param hashes sequence hashes of the prompt's full blocks
   * @return its key, the same until the next call of {@link #placed}; {@link #NONE} for a prompt
   *     without a full block
   */
  public long newKey(long[] hashes) {
    if (hashes.length == 0) {
      return NONE;
    }
    // Conversations may begin with the same prompt, so the hash alone is no key.
    return some(Digest64.fold(Digest64.fold(Digest64.EMPTY, end(hashes)), begun));
  }

  /**
   * A prompt was placed. O(1).
   *
   * @param key its conversation by {@link #key}, not {@link #NONE}
   * @param hashes sequence hashes of its full blocks, at least one
   */
  public void placed(long key, long[] hashes) {
    long end = some(end(hashes));
    long before = ends.put(key, end);
    begun += before == NONE ? 1 : 0;
    if (before != NONE && before != end) {
      keys.remove(before, key);
    }
    long other = keys.putAndMoveToLast(end, key);
    if (other != NONE && other != key) {
      ends.remove(other, end);
    }
    if (keys.size() > most) {
      long oldest = keys.firstLongKey();
      ends.remove(keys.removeFirstLong(), oldest);
    }
  }

  private static long some(long value) {
    return value == NONE ? 1 : value;
  }

  private static long end(long[] hashes) {
    return hashes[hashes.length - 1];
  }
}
