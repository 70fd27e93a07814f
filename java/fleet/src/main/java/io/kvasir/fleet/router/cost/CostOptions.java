package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.CostOverrides;
import io.kvasir.model.Checks;

/**
 * Weights of the {@link CostSelector}, with the defaults of Dynamo's KV router. Immutable.
 *
 * @param overlapScoreCredit blocks taken off the prefill for each matched block; 0 ignores caches
 * @param overlapScoreCreditDecay how fast that credit fades on ranks with more prefill booked than
 *     the least loaded candidate: with 1 it is halved at one whole prompt more; 0: it does not fade
 * @param prefillLoadScale weight of prefill against decode; 0 balances active blocks alone
 * @param activeRequestWeight cost in blocks of each request on the rank
 * @param temperature 0 takes the lowest cost; above, ranks are drawn by a softmax over the costs
 * @param trackActiveBlocks whether active blocks count
 */
public record CostOptions(
    double overlapScoreCredit,
    double overlapScoreCreditDecay,
    double prefillLoadScale,
    double activeRequestWeight,
    double temperature,
    boolean trackActiveBlocks) {

  /** Credit 1, no decay, scale 1, no request weight, temperature 0, active blocks count. */
  public static final CostOptions DEFAULT = new CostOptions(1, 0, 1, 0, 0, true);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the option that is out of range, what is allowed and
   *     what was given
   */
  public CostOptions {
    Checks.finiteAtLeast0("overlapScoreCredit", overlapScoreCredit);
    Checks.finiteAtLeast0("overlapScoreCreditDecay", overlapScoreCreditDecay);
    Checks.finiteAtLeast0("prefillLoadScale", prefillLoadScale);
    Checks.finiteAtLeast0("activeRequestWeight", activeRequestWeight);
    Checks.finiteAtLeast0("temperature", temperature);
  }

  /**
   * These options with the older single weight: cost = weight x prefill blocks + active blocks.
   *
   * @param weight the prefill's weight; 0 ignores caches too, which is pure load balancing
   * @return the options
   * @throws IllegalArgumentException if the weight is not finite and at least 0
   */
  public CostOptions withOverlapScoreWeight(double weight) {
    Checks.finiteAtLeast0("overlapScoreWeight", weight);
    CostOptions scaled = withPrefillLoadScale(weight);
    return weight == 0 ? scaled.withOverlapScoreCredit(0) : scaled;
  }

  /**
   * These options with another credit.
   *
   * @param value see {@link #overlapScoreCredit()}
   * @return the options
   * @throws IllegalArgumentException if it is out of range
   */
  public CostOptions withOverlapScoreCredit(double value) {
    return new CostOptions(
        value,
        overlapScoreCreditDecay,
        prefillLoadScale,
        activeRequestWeight,
        temperature,
        trackActiveBlocks);
  }

  /**
   * These options with another decay of the credit.
   *
   * @param value see {@link #overlapScoreCreditDecay()}
   * @return the options
   * @throws IllegalArgumentException if it is out of range
   */
  public CostOptions withOverlapScoreCreditDecay(double value) {
    return new CostOptions(
        overlapScoreCredit,
        value,
        prefillLoadScale,
        activeRequestWeight,
        temperature,
        trackActiveBlocks);
  }

  /**
   * These options with another weight of prefill.
   *
   * @param value see {@link #prefillLoadScale()}
   * @return the options
   * @throws IllegalArgumentException if it is out of range
   */
  public CostOptions withPrefillLoadScale(double value) {
    return new CostOptions(
        overlapScoreCredit,
        overlapScoreCreditDecay,
        value,
        activeRequestWeight,
        temperature,
        trackActiveBlocks);
  }

  /**
   * These options with another temperature.
   *
   * @param value see {@link #temperature()}
   * @return the options
   * @throws IllegalArgumentException if it is out of range
   */
  public CostOptions withTemperature(double value) {
    return new CostOptions(
        overlapScoreCredit,
        overlapScoreCreditDecay,
        prefillLoadScale,
        activeRequestWeight,
        value,
        trackActiveBlocks);
  }

  /**
   * These options with those that a request sets for itself. O(1).
   *
   * @param own the request's options
   * @return this object if the request sets none
   */
  CostOptions with(CostOverrides own) {
    if (own.equals(CostOverrides.NONE)) {
      return this;
    }
    return new CostOptions(
        own.overlapScoreCredit() == null ? overlapScoreCredit : own.overlapScoreCredit(),
        overlapScoreCreditDecay,
        own.prefillLoadScale() == null ? prefillLoadScale : own.prefillLoadScale(),
        activeRequestWeight,
        own.temperature() == null ? temperature : own.temperature(),
        trackActiveBlocks);
  }
}
