package io.kvasir.benchmarks.index;

/**
 * Results of a replay against deadlines, with one reading and one writing thread. Immutable.
 *
 * <p>Call times are meaningless if the index cannot keep up: use them only if {@link #keptUp()}.
 *
 * @param windowNs the window that the corpus's time span was compressed to
 * @param doneNs from the start to the end of the last call
 * @param blockOps blocks named by the operations
 * @param latestWakeNs longest delay with which an idle thread noticed a deadline
 * @param lookups times of the look-ups
 * @param answered from a look-up's deadline to its answer
 * @param applies times of the changes
 * @param applied from a change's deadline to its effect
 * @param failed changes that were not fully applied
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

  /** {@return the offered throughput in block operations per second} */
  public double offered() {
    return blockOps * NS_PER_S / windowNs;
  }

  /** {@return the achieved throughput, up to the last call, in block operations per second} */
  public double drained() {
    return blockOps * NS_PER_S / Math.max(1, doneNs);
  }

  /**
   * {@return whether the figures may be used: operations were issued on time, no idle thread was
   * late by more than a hundredth of the window, and every change was applied}
   */
  public boolean valid() {
    return latestWakeNs <= VALID * windowNs && failed == 0;
  }

  /** {@return whether the index kept up: all operations finished within 1.10 times the window} */
  public boolean keptUp() {
    return doneNs <= KEPT_UP * windowNs;
  }
}
