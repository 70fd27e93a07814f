package io.kvasir.benchmarks.index;

/**
 * What a replay on one thread took. Immutable.
 *
 * @param blockOps blocks that the replayed operations name
 * @param ns nanoseconds from the first call to the end of the last
 * @param cpuNs nanoseconds that the thread ran; fewer than {@code ns} where others took the
 *     processor
 * @param lookups times of the look-ups
 * @param applies times of the changes
 * @param failed changes that were not applied whole
 */
public record ReplayFigures(
    long blockOps,
    long ns,
    long cpuNs,
    LatencySummary lookups,
    LatencySummary applies,
    long failed) {

  private static final double NS_PER_S = 1e9;

  /**
   * Throughput.
   *
   * @return block operations a second
   */
  public double blockOpsPerSecond() {
    return blockOps * NS_PER_S / Math.max(1, ns);
  }

  /**
   * Throughput of the time in which the thread ran.
   *
   * @return block operations a second
   */
  public double blockOpsPerCpuSecond() {
    return blockOps * NS_PER_S / Math.max(1, cpuNs);
  }
}
