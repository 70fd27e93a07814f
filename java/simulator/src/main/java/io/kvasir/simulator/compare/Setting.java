package io.kvasir.simulator.compare;

import io.kvasir.simulator.replay.ReplayMode;

/**
 * A case in which policies are compared.
 *
 * <p>Immutable.
 *
 * @param traffic the requests
 * @param mode which phases of serving the ranks run
 * @param load the target load
 * @param poolTokens tokens of each rank's pool
 */
public record Setting(Traffic traffic, ReplayMode mode, Load load, int poolTokens) {

  /** What determines a replay's requests and ranks, but for the speed and the seed. */
  String key() {
    return traffic.key() + " " + mode + " " + load.ranks() + " ranks " + poolTokens;
  }

  @Override
  public String toString() {
    return traffic.name() + " " + mode.id() + " " + load + " " + poolTokens;
  }
}
