package io.kvasir.benchmarks.index;

/**
 * Results of a replay on one thread. Immutable.
 *
 * @param blockOps blocks named by the replayed operations
 * @param ns nanoseconds from the first call to the end of the last
 * @param cpuNs nanoseconds of CPU time; less than {@code ns} if the thread was preempted
 * @param lookups times of the look-ups
 * @param applies times of the changes
 * @param failed changes that were not fully applied
 */
public record ReplayFigures(
    long blockOps,
    long ns,
    long cpuNs,
    LatencySummary lookups,
    LatencySummary applies,
    long failed) {

  private static final double NS_PER_S = 1e9;

  /** {@return the throughput in block operations per second} */
  public double blockOpsPerSecond() {
    return blockOps * NS_PER_S / Math.max(1, ns);
  }

  /** {@return the throughput relative to the thread's CPU time, in block operations per second} */
  public double blockOpsPerCpuSecond() {
    return blockOps * NS_PER_S / Math.max(1, cpuNs);
  }
}
