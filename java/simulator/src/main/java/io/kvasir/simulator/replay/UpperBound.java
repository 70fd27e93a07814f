package io.kvasir.simulator.replay;

import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;

/**
 * Reuse in one unbounded pool, shared by all ranks and serving one request at a time in arrival
 * order. Only full blocks are reused, never the last prompt token; answers are reused where the
 * workload builds on them. No placement can do much better, so reports show it as the upper bound.
 *
 * <p>Not thread-safe; filled by the thread that prepares requests.
 */
final class UpperBound {

  private final int tokensPerBlock;
  private final LongOpenHashSet computed = new LongOpenHashSet();
  private final Long2IntOpenHashMap cachedTokens = new Long2IntOpenHashMap();
  private long totalCachedTokens;

  UpperBound(int tokensPerBlock) {
    this.tokensPerBlock = tokensPerBlock;
  }

  /**
   * Serves a request. O(blocks).
   *
   * @param request the request
   * @param sequenceHashes sequence hashes of its prompt's full blocks
   * @param answeredTokens leading tokens computed by an earlier turn
   */
  void serve(Request request, long[] sequenceHashes, int answeredTokens) {
    for (int block = 0; block < answeredTokens / tokensPerBlock; block++) {
      computed.add(sequenceHashes[block]);
    }
    int reusable = (request.promptTokens() - 1) / tokensPerBlock;
    int block = 0;
    while (block < reusable && computed.contains(sequenceHashes[block])) {
      block++;
    }
    cachedTokens.put(request.id(), block * tokensPerBlock);
    totalCachedTokens += (long) block * tokensPerBlock;
    for (; block < sequenceHashes.length; block++) {
      computed.add(sequenceHashes[block]);
    }
  }

  /** Removes a request that was never served from the total. The blocks it computed stay. */
  void exclude(long requestId) {
    totalCachedTokens -= cachedTokens.remove(requestId);
  }

  /** Prompt tokens that would have been reused, over all requests served and not excluded. */
  long cachedTokens() {
    return totalCachedTokens;
  }
}
