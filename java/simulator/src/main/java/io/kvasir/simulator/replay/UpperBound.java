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
   * Serves a request. A block is known only together with all blocks before it, so known ones are
   * found from the end of the known part. O(new blocks + log blocks).
   *
   * @param request the request
   * @param sequenceHashes sequence hashes of its prompt's full blocks
   * @param answeredTokens leading tokens computed by an earlier turn
   */
  void serve(Request request, long[] sequenceHashes, int answeredTokens) {
    addLeading(sequenceHashes, answeredTokens / tokensPerBlock);
    int known = known(sequenceHashes);
    int reusable = Math.min(known, (request.promptTokens() - 1) / tokensPerBlock);
    cachedTokens.put(request.id(), reusable * tokensPerBlock);
    totalCachedTokens += (long) reusable * tokensPerBlock;
    addLeading(sequenceHashes, sequenceHashes.length);
  }

  private void addLeading(long[] sequenceHashes, int blocks) {
    int block = blocks;
    while (block > 0 && computed.add(sequenceHashes[block - 1])) {
      block--;
    }
  }

  /** The number of leading blocks that are known. */
  private int known(long[] sequenceHashes) {
    int known = 0;
    int unknown = sequenceHashes.length + 1;
    while (unknown - known > 1) {
      int middle = (known + unknown) >>> 1;
      if (computed.contains(sequenceHashes[middle - 1])) {
        known = middle;
      } else {
        unknown = middle;
      }
    }
    return known;
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
