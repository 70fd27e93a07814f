package io.kvasir.select;

/**
 * Options that a request sets for itself. Each may be null: then the scheduler's own counts.
 * Immutable.
 *
 * @param overlapScoreCredit see {@link CostOptions#overlapScoreCredit()}
 * @param prefillLoadScale see {@link CostOptions#prefillLoadScale()}
 * @param temperature see {@link CostOptions#temperature()}
 * @param assumeKvReuse false: its blocks are shared with no other request's; true changes nothing
 *     where no request's are
 * @param trackPrefillTokens false: its prompt is no work of its rank and not booked as such; true
 *     changes nothing where no request's is
 */
public record CostOverrides(
    Double overlapScoreCredit,
    Double prefillLoadScale,
    Double temperature,
    Boolean assumeKvReuse,
    Boolean trackPrefillTokens) {

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

  private static void checkSet(String name, Double value) {
    if (value != null) {
      CostOptions.check(name, value);
    }
  }
}
