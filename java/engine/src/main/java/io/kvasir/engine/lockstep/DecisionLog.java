package io.kvasir.engine.lockstep;

import io.kvasir.engine.adp.RankState;
import io.kvasir.model.Digest64;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;

/**
 * What a member has decided since the members last agreed, and on what grounds: the states of the
 * ranks, the requests in the order in which they were routed, what the ranks held of them and where
 * they were placed.
 *
 * <p>Three or four folds for a state, three for a request and one for each of its matches; nothing
 * is allocated unless more requests are routed between two gathers than ever before.
 *
 * <p>Confined to one thread.
 */
public final class DecisionLog {

  /** Bytes of a request in an explanation. */
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

  /** Makes an empty log. */
  public DecisionLog() {}

  /**
   * A batch begins that is routed on the states that follow.
   *
   * @param liveRanks number of states
   */
  public void beginBatch(int liveRanks) {
    states = Digest64.fold(states, liveRanks);
    batchStart = size;
  }

  /**
   * A rank's state, as the router sees it.
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
   * The next request of the batch, in the order in which the router gets them.
   *
   * @param id its id
   * @param content a digest of all else about it that routers look at
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
   * What the next rank holds of the last request.
   *
   * @param tokens matched tokens
   */
  public void match(int tokens) {
    matches[size - 1] = Digest64.fold(matches[size - 1], tokens);
  }

  /**
   * Where a request of the batch was placed.
   *
   * @param requestIndex its index in the batch
   * @param rank the rank
   * @throws IndexOutOfBoundsException if the batch has no such request
   */
  public void placed(int requestIndex, int rank) {
    ranks[batchStart + Objects.checkIndex(requestIndex, size - batchStart)] = rank;
  }

  /** A digest of everything since the members first met. O(requests in the log). */
  long digest() {
    long digest = Digest64.fold(history, states);
    for (int i = 0; i < size; i++) {
      digest = Digest64.fold(digest, ids[i]);
      digest = Digest64.fold(digest, contents[i]);
      digest = Digest64.fold(digest, matches[i] ^ ranks[i]);
    }
    return digest;
  }

  /** All members have this digest: what led to it need not be explained any more. */
  void agree(long digest) {
    history = digest;
    states = Digest64.EMPTY;
    size = 0;
    batchStart = 0;
  }

  /** Bytes of an explanation with so many requests at most. */
  int explanationBytes(int mostRequests) {
    return 2 * Long.BYTES + Integer.BYTES + Math.min(size, mostRequests) * REQUEST_BYTES;
  }

  /** Writes what the digest was made of. */
  void explain(ByteBuffer to, int mostRequests) {
    int told = Math.min(size, mostRequests);
    to.putLong(history).putLong(states).putInt(told);
    for (int i = 0; i < told; i++) {
      to.putLong(ids[i]).putLong(contents[i]).putLong(matches[i]).putInt(ranks[i]);
    }
  }
}
