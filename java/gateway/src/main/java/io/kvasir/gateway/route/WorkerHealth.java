package io.kvasir.gateway.route;

/** What the checks of a worker say, from the best to the worst. */
enum WorkerHealth {
  /** The last checks were good, or the worker answers requests while a check is late. */
  GOOD,

  /** Answers to the checks are missing, and nothing worse: the engine can be busy. */
  LATE,

  /** The engine answers the checks with an error, or closes their connections. */
  FAILING,

  /** The engine demands a key that it was not given. */
  REFUSED,

  /** The engine accepts no connections. */
  UNREACHABLE;

  /** Whether requests may be served all the same, where few healthy workers are left. */
  boolean mayServe() {
    return compareTo(FAILING) <= 0;
  }

  /** The worse of both. */
  WorkerHealth or(WorkerHealth other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
