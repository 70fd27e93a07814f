package io.kvasir.engine.pool;

import java.util.List;

/**
 * Matches prompts against the pools of a hybrid model: a matcher of their blocks with full
 * attention, whose matches are shortened to what the further groups allow.
 *
 * <p>Confined to one thread. Owns the matcher.
 */
public final class HybridPrefixMatcher implements PrefixMatcher {

  private final PrefixMatcher full;
  private final List<HybridBlockPool> pools;

  /**
   * Makes a matcher; it does not own the pools.
   *
   * @param full matches the blocks with full attention; closed with this one
   * @param pools one pool per rank, in rank order
   */
  public HybridPrefixMatcher(PrefixMatcher full, List<HybridBlockPool> pools) {
    this.full = full;
    this.pools = List.copyOf(pools);
  }

  @Override
  public PrefixMatches match(ProbeBatch batch) {
    PrefixMatches matches = full.match(batch);
    long[] hashes = batch.hashes();
    int[] offsets = batch.offsets();
    for (int rank = 0; rank < pools.size(); rank++) {
      HybridBlockPool pool = pools.get(rank);
      int size = pool.shape().tokensPerBlock();
      for (int i = 0; i < batch.size(); i++) {
        int blocks = matches.tokens(rank, i) / size;
        matches.set(rank, i, pool.limit(hashes, offsets[i], blocks) * size);
      }
    }
    return matches;
  }

  @Override
  public void retire(int rank) {
    full.retire(rank);
  }

  @Override
  public void close() {
    full.close();
  }
}
