package io.kvasir.simulator.workload;

import java.util.Map;

/** A reproducible stream of requests. Immutable: each start is a new, independent run of it. */
public interface Workload {

  /**
   * Name for reports: a trace's file or a generator's name.
   *
   * @return the name
   */
  String name();

  /**
   * What defines it, for reports: option-like names and plain values.
   *
   * @return parameters in a fixed order; not modifiable
   */
  Map<String, Object> parameters();

  /**
   * Number of requests if none is rejected; ids are below it or, for sessions, unique all the same.
   *
   * @return at least 1
   */
  long plannedRequests();

  /**
   * Starts a run at time 0.
   *
   * @param preparation hashes each request; called in arrival order where requests do not depend on
   *     answers, perhaps by another thread and ahead of time, but by one thread only
   * @return the run; the caller closes it
   */
  Arrivals start(RequestPreparation preparation);
}
