package io.kvasir.gateway.admin;

import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.List;

/** Changes the workers of a gateway while it serves. Thread-safe. */
public interface FleetControl {

  /** What a description has changed. */
  enum Change {
    /** The worker is new. */
    ADDED,

    /** Another worker takes its place, with the new description, once that has answered. */
    CHANGED,

    /** The worker is as it was, but for its weight. */
    NONE
  }

  /** {@return workers that take the place of others of their names once they have answered} */
  List<FleetWorker> coming();

  /** {@return workers that have been removed and whose requests go on} */
  List<FleetWorker> leaving();

  /**
   * Adds a worker, or replaces the one of the same name. That serves until the new one has
   * answered, but for no longer than the requests of one that goes may go on.
   *
   * @param spec what its operator states
   * @return what has changed
   * @throws IllegalArgumentException if it does not fit the other workers, or workers are fixed
   */
  Change put(WorkerSpec spec);

  /**
   * Keeps new requests away from a worker, or no longer.
   *
   * @param name the worker
   * @param cordoned whether they stay away
   * @return false if it is not known
   */
  boolean cordon(String name, boolean cordoned);

  /**
   * Changes a worker's weight relative to the others.
   *
   * @param name the worker
   * @param weight the weight, above 0 and at most 1
   * @return false if it is not known
   */
  boolean weigh(String name, double weight);

  /**
   * Removes a worker. Its requests in progress have a while to end.
   *
   * @param name the worker
   * @return false if it is not known
   * @throws IllegalArgumentException if workers are fixed
   */
  boolean remove(String name);
}
