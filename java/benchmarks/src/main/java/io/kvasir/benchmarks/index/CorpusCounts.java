package io.kvasir.benchmarks.index;

/**
 * How much there is in a corpus. Immutable.
 *
 * @param workers ranks that tell changes
 * @param queries look-ups
 * @param changes events
 * @param queryBlocks blocks of all look-ups
 * @param storedBlocks blocks of all stored events
 * @param removedBlocks blocks of all removed events
 */
public record CorpusCounts(
    int workers,
    int queries,
    int changes,
    long queryBlocks,
    long storedBlocks,
    long removedBlocks) {

  /**
   * Blocks that look-ups and changes name together, whether or not an index touches each of them.
   *
   * @return query, stored and removed blocks
   */
  public long blockOps() {
    return queryBlocks + storedBlocks + removedBlocks;
  }
}
