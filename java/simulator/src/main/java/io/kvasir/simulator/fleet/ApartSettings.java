package io.kvasir.simulator.fleet;

import io.kvasir.fleet.router.legs.WholeOrApart;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.Checks;
import java.util.Objects;

/**
 * The workers of a replay in which prompts and answers are computed by different workers.
 *
 * <p>Immutable.
 *
 * @param prefill the workers that compute prompts, and their router
 * @param decode the workers that generate answers, and their router
 * @param maxLocalPrefillTokens most missing tokens of a prompt that a decode worker computes
 *     itself; {@link WholeOrApart#BY_FORECAST} where the routers' forecasts decide
 */
public record ApartSettings(
    FleetSettings prefill, FleetSettings decode, int maxLocalPrefillTokens) {

  /** Checks the range. */
  public ApartSettings {
    Objects.requireNonNull(prefill, "prefill");
    Objects.requireNonNull(decode, "decode");
    Checks.atLeast("maxLocalPrefillTokens", maxLocalPrefillTokens, WholeOrApart.BY_FORECAST);
  }

  /** {@return the name of the routers; of both, prefill first, if they differ} */
  public String routers() {
    String first = prefill.router().name();
    String second = decode.router().name();
    return first.equals(second) ? first : first + "+" + second;
  }

  /**
   * {@return the format that the pools of all workers must use}
   *
   * @param own the pools' format
   */
  public HashFormat naming(HashFormat own) {
    return decode.naming(prefill.naming(own));
  }
}
