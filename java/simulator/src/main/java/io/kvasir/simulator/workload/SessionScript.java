package io.kvasir.simulator.workload;

import io.kvasir.model.Request;

/**
 * One session of a workload whose requests depend on answers. Its requests are those of one or more
 * {@link Dialogue}s, each of which has at most one request in flight.
 *
 * <p>Not thread-safe.
 */
interface SessionScript {

  /** Receives the dialogues that ask next. */
  @FunctionalInterface
  interface Schedule {

    /** The dialogue asks at this time. */
    void ask(Dialogue dialogue, long atNs);
  }

  /** Schedules the first requests. */
  void begin(long nowNs, Schedule schedule);

  /** Creates the request of a dialogue that was scheduled. */
  Request ask(Dialogue dialogue);

  /** Takes the answer to the dialogue's request and schedules what follows from it. */
  void answered(Dialogue dialogue, int[] outputTokens, long nowNs, Schedule schedule);

  /** The dialogue's request was rejected, which ends the dialogue. */
  void rejected(Dialogue dialogue, long nowNs, Schedule schedule);

  /** Whether no request follows and none is in flight. */
  boolean over();
}
