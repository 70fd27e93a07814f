package io.kvasir.timing;

import io.kvasir.model.Checks;

/**
 * The polynomials that model a step's time.
 *
 * <p>Prefill, for chunks of n new tokens after c tokens of context: {@code 2 a sum(n (c + n / 2)) +
 * b sum(n) + d} milliseconds. For one whole prompt without context that is the published {@code a
 * n^2 + b n + d}. Decode, for p = active KV tokens / KV tokens of the pool, at most 1: {@code
 * max(floor, A p^2 + B p + C)} milliseconds. Source of both polynomials and their default
 * coefficients: the mocker engine of NVIDIA Dynamo. {@link StepOverheads} add to them.
 *
 * <p>Immutable.
 *
 * @param prefillQuadratic a, milliseconds per token pair
 * @param prefillLinear b, milliseconds per token
 * @param prefillConstantMs d
 * @param decodeQuadratic A, milliseconds
 * @param decodeLinear B, milliseconds
 * @param decodeConstantMs C
 * @param decodeFloorMs shortest decode step
 * @param decodeKvTokens active KV tokens at which p is 1; fixed, so that a larger pool does not
 *     decode faster
 * @param overheads what else takes time in a step
 */
public record StepTiming(
    double prefillQuadratic,
    double prefillLinear,
    double prefillConstantMs,
    double decodeQuadratic,
    double decodeLinear,
    double decodeConstantMs,
    double decodeFloorMs,
    long decodeKvTokens,
    StepOverheads overheads) {

  /** The published coefficients, with 1,048,576 KV tokens. */
  public static final StepTiming DEFAULT =
      new StepTiming(4.209989e-7, 1.518344e-2, 16.50142, -25.74, 54.01, 5.74, 1.0, 1L << 20);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public StepTiming {
    Checks.finiteAtLeast0("prefillQuadratic", prefillQuadratic);
    Checks.finiteAtLeast0("prefillLinear", prefillLinear);
    Checks.finiteAtLeast0("prefillConstantMs", prefillConstantMs);
    Checks.finiteAtLeast0("decodeFloorMs", decodeFloorMs);
    if (!Double.isFinite(decodeQuadratic + decodeLinear + decodeConstantMs)) {
      throw new IllegalArgumentException("decode coefficients must be finite");
    }
    Checks.atLeast("decodeKvTokens", decodeKvTokens, 1);
  }

  /**
   * The polynomials alone.
   *
   * @param prefillQuadratic a
   * @param prefillLinear b
   * @param prefillConstantMs d
   * @param decodeQuadratic A
   * @param decodeLinear B
   * @param decodeConstantMs C
   * @param decodeFloorMs shortest decode step
   * @param decodeKvTokens active KV tokens at which p is 1
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public StepTiming(
      double prefillQuadratic,
      double prefillLinear,
      double prefillConstantMs,
      double decodeQuadratic,
      double decodeLinear,
      double decodeConstantMs,
      double decodeFloorMs,
      long decodeKvTokens) {
    this(
        prefillQuadratic,
        prefillLinear,
        prefillConstantMs,
        decodeQuadratic,
        decodeLinear,
        decodeConstantMs,
        decodeFloorMs,
        decodeKvTokens,
        StepOverheads.NONE);
  }

  /**
   * {@return the same polynomials with other overheads}
   *
   * @param others the overheads
   */
  public StepTiming with(StepOverheads others) {
    return new StepTiming(
        prefillQuadratic,
        prefillLinear,
        prefillConstantMs,
        decodeQuadratic,
        decodeLinear,
        decodeConstantMs,
        decodeFloorMs,
        decodeKvTokens,
        others);
  }

  /** {@return milliseconds of each prompt token, without attention} */
  double promptTokenMs() {
    return prefillLinear + overheads.allReduceTokenMs();
  }

  /** {@return milliseconds of each step with prefill, whatever it computes} */
  double promptStepMs() {
    return prefillConstantMs + overheads.allReduceMs();
  }

  /**
   * The time of a step's prefill chunks without other requests.
   *
   * @param attendedPairs sum of n (c + n / 2) over the chunks
   * @param newTokens sum of n
   * @return milliseconds
   */
  public double prefillMs(double attendedPairs, long newTokens) {
    return 2 * prefillQuadratic * attendedPairs + promptTokenMs() * newTokens + promptStepMs();
  }

  /**
   * The time of a step of decoding requests without prefill, whatever their number.
   *
   * @param activeKvTokens sum of their sequence lengths
   * @return milliseconds
   */
  public double decodeMs(long activeKvTokens) {
    double p = Math.min(1.0, (double) activeKvTokens / decodeKvTokens);
    return Math.max(decodeFloorMs, decodeQuadratic * p * p + decodeLinear * p + decodeConstantMs)
        + overheads.allReduceMs();
  }

  /**
   * The time of a step.
   *
   * @param attendedPairs sum of n (c + n / 2) over its prefill chunks
   * @param newTokens sum of n
   * @param decoding number of its decoding requests
   * @param activeKvTokens sum of their sequence lengths
   * @return milliseconds; 0 for a step without work
   */
  public double stepMs(double attendedPairs, long newTokens, int decoding, long activeKvTokens) {
    double prefill = newTokens == 0 ? 0 : prefillMs(attendedPairs, newTokens);
    if (decoding == 0) {
      return prefill;
    }
    double decode = decodeMs(activeKvTokens) + overheads.requestsMs(decoding);
    return newTokens == 0 ? decode : overheads.mixedMs(prefill, decode);
  }
}
