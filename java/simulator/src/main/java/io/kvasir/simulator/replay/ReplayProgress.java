package io.kvasir.simulator.replay;

/** Hears how far a replay is, on the replay's thread, now and then. */
@FunctionalInterface
public interface ReplayProgress {

  /** Nobody listens. */
  ReplayProgress SILENT = (settled, planned, virtualNs) -> {};

  /**
   * The replay got further.
   *
   * @param settled requests that were answered or rejected
   * @param planned requests of the workload
   * @param virtualNs modelled time so far
   */
  void at(long settled, long planned, long virtualNs);
}
