package io.kvasir.simulator.workload;

import java.util.Map;

/** A reproducible stream of requests. Immutable: each start creates a new, independent run. */
public interface Workload {

  /** {@return the name for reports: a trace's file or a generator's name} */
  String name();

  /**
   * {@return its parameters for reports: option-like names and plain values, in a fixed order; not
   * modifiable}
   */
  Map<String, Object> parameters();

  /**
   * Number of requests if none is rejected. Ids are below it, except for sessions, whose ids are
   * only unique.
   *
   * @return at least 1
   */
  long plannedRequests();

  /**
   * Starts a run at time 0.
   *
   * @param preparation hashes each request; called by one thread only. For requests that do not
   *     depend on answers, that may be another thread, which calls it ahead of time in arrival
   *     order
   * @return the run; the caller closes it
   */
  Arrivals start(RequestPreparation preparation);
}
