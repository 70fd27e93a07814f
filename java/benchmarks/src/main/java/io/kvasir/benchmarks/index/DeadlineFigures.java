package io.kvasir.benchmarks.index;

/**
 * What a replay against deadlines took, with one thread that reads and one that writes. Immutable.
 *
 * <p>The times of calls that an index cannot keep up with say nothing: read them only where {@link
 * #keptUp()}.
 *
 * @param windowNs time into which the corpus's own was pressed
 * @param doneNs from the start to the end of the last call
 * @param blockOps blocks that the operations name
 * @param latestWakeNs longest time by which a thread that had nothing to do noticed a deadline late
 * @param lookups times of the look-ups
 * @param answered from a look-up's deadline to its answer
 * @param applies times of the changes
 * @param applied from a change's deadline to its effect
 * @param failed changes that were not applied whole
 */
public record DeadlineFigures(
    long windowNs,
    long doneNs,
    long blockOps,
    long latestWakeNs,
    LatencySummary lookups,
    LatencySummary answered,
    LatencySummary applies,
    LatencySummary applied,
    long failed) {

  private static final double NS_PER_S = 1e9;
  private static final double VALID = 0.01;
  private static final double KEPT_UP = 1.10;

  /**
   * What was asked for.
   *
   * @return block operations a second
   */
  public double offered() {
    return blockOps * NS_PER_S / windowNs;
  }

  /**
   * What was done, to the last call.
   *
   * @return block operations a second
   */
  public double drained() {
    return blockOps * NS_PER_S / Math.max(1, doneNs);
  }

  /**
   * Whether operations were issued as they should: no thread that had nothing to do was late by
   * more than a hundredth of the window, and every change was applied.
   *
   * @return whether the figures may be used
   */
  public boolean valid() {
    return latestWakeNs <= VALID * windowNs && failed == 0;
  }

  /**
   * Whether all was done within 1.10 times the window.
   *
   * @return whether the index kept up
   */
  public boolean keptUp() {
    return doneNs <= KEPT_UP * windowNs;
  }
}
