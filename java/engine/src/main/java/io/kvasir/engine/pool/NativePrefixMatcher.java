package io.kvasir.engine.pool;

import java.util.BitSet;
import java.util.List;
import java.util.Objects;

/**
 * Matches a batch against the native pools of all ranks in one native call. The cache misses of the
 * look-ups overlap.
 *
 * <p>Confined to one thread. The owners of the pools may change them meanwhile.
 */
public final class NativePrefixMatcher implements PrefixMatcher {

  private final List<NativeBlockPool> pools;
  private final BitSet retired = new BitSet();
  private final DirectoryProbe probe;

  /**
   * Makes a matcher; it does not own the pools.
   *
   * @param pools one pool per rank, in rank order, all with the same tokens per block
   * @throws IllegalArgumentException if there is none, or their tokens per block differ
   */
  public NativePrefixMatcher(List<NativeBlockPool> pools) {
    this.pools = List.copyOf(pools);
    this.probe = DirectoryProbe.of(this.pools, NativeBlockPool::shape, NativeBlockPool::directory);
  }

  @Override
  public PrefixMatches match(ProbeBatch batch) {
    return probe.match(batch, retired);
  }

  @Override
  public void retire(int rank) {
    retired.set(Objects.checkIndex(rank, pools.size()));
  }

  @Override
  public void close() {}
}
