package io.kvasir.simulator.compare;

import io.kvasir.model.Checks;

/**
 * Target utilisation of a worker.
 *
 * <p>Immutable.
 *
 * @param ranks ranks of the worker
 * @param utilisation share of the time, above 0 and below 1, in which at least one rank would
 *     prefill under the reference router; the ranks step together, so this is the share in which
 *     the worker prefills. Of a fleet, the mean of the workers
 */
public record Load(int ranks, double utilisation) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public Load {
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
