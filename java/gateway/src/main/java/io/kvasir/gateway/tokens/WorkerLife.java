package io.kvasir.gateway.tokens;

import io.kvasir.gateway.route.FleetWorker;

/**
 * A worker from one recovery to the next. Within it, the engine has one tokenizer; after it, a
 * model of the same name can have another. Immutable.
 *
 * @param worker the worker
 * @param recoveries how often it had recovered
 */
public record WorkerLife(FleetWorker worker, int recoveries) {

  /** The life that a worker is in. */
  static WorkerLife of(FleetWorker worker) {
    return new WorkerLife(worker, worker.recoveries());
  }

  /** Whether the worker has not recovered since. */
  boolean lasts() {
    return worker.recoveries() == recoveries;
  }
}
