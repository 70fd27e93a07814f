package io.kvasir.simulator.replay;

/** Reports the progress of a replay from time to time, on the replay's thread. */
@FunctionalInterface
public interface ReplayProgress {

  /** Discards the progress. */
  ReplayProgress SILENT = (settled, arrived, planned, virtualNs) -> {};

  /**
   * Reports progress.
   *
   * @param settled requests answered or rejected
   * @param arrived requests that have arrived, including the settled ones
   * @param planned requests of the workload
   * @param virtualNs modelled time so far
   */
  void at(long settled, long arrived, long planned, long virtualNs);
}
