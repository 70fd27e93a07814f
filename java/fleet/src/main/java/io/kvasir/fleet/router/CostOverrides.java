package io.kvasir.fleet.router;

import io.kvasir.model.Checks;
import org.jspecify.annotations.Nullable;

/**
 * Cost options that a request sets for itself, by the names of the {@code cost} policy. Each may be
 * null; then the policy's own option counts. Immutable.
 *
 * @param overlapScoreCredit blocks taken off the prefill for each matched block
 * @param prefillLoadScale weight of prefill against decode
 * @param temperature 0 takes the lowest cost; above, ranks are drawn by a softmax over the costs
 * @param assumeKvReuse false: the request shares blocks with no other request; true changes nothing
 *     where no request shares blocks
 * @param trackPrefillTokens false: the prompt is no work of its rank and is not booked as such;
 *     true changes nothing where prefill is not tracked
 */
public record CostOverrides(
    @Nullable Double overlapScoreCredit,
    @Nullable Double prefillLoadScale,
    @Nullable Double temperature,
    @Nullable Boolean assumeKvReuse,
    @Nullable Boolean trackPrefillTokens) {

  /** Nothing is set. */
  public static final CostOverrides NONE = new CostOverrides(null, null, null, null, null);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the option that is out of range, what is allowed and
   *     what was given
   */
  public CostOverrides {
    checkSet("overlapScoreCredit", overlapScoreCredit);
    checkSet("prefillLoadScale", prefillLoadScale);
    checkSet("temperature", temperature);
  }

  private static void checkSet(String name, @Nullable Double value) {
    if (value != null) {
      Checks.finiteAtLeast0(name, value);
    }
  }
}
