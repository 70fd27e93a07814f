package io.kvasir.simulator.compare;

import io.kvasir.model.Checks;

/** How much is asked of a worker's ranks, or of as many workers of one rank. Immutable. */
public sealed interface Load {

  /** {@return the number of ranks} */
  int ranks();

  /**
   * Requests that arrive at the speed of a target utilisation.
   *
   * @param ranks ranks of the worker
   * @param utilisation share of the time, above 0 and below 1, in which at least one rank would
   *     prefill under the reference router; the ranks step together, so this is the share in which
   *     the worker prefills. Of a fleet, the mean of the workers
   */
  record Share(int ranks, double utilisation) implements Load {

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException naming the field that is out of range
     */
    public Share {
      Checks.atLeast("ranks", ranks, 1);
      if (!(utilisation > 0 && utilisation < 1)) {
        throw new IllegalArgumentException(
            "utilisation must be above 0 and below 1, not " + utilisation);
      }
    }

    @Override
    public String toString() {
      return ranks + "@" + utilisation;
    }
  }

  /**
   * A closed loop: a request arrives when another one ends.
   *
   * @param ranks ranks of the worker
   * @param requests requests in flight, at least 1
   */
  record InFlight(int ranks, int requests) implements Load {

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException naming the field that is out of range
     */
    public InFlight {
      Checks.atLeast("ranks", ranks, 1);
      Checks.atLeast("requests", requests, 1);
    }

    @Override
    public String toString() {
      return ranks + "x" + requests;
    }
  }
}
