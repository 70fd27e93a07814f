package io.kvasir.benchmarks.index;

/**
 * Size of a corpus. Immutable.
 *
 * @param workers ranks with changes
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
   * {@return the query, stored and removed blocks named by all look-ups and changes, whether or not
   * an index touches each of them}
   */
  public long blockOps() {
    return queryBlocks + storedBlocks + removedBlocks;
  }
}
