package io.kvasir.timing;

import io.kvasir.model.Checks;

/**
 * What takes time in a step besides the polynomials of {@link StepTiming}. Immutable.
 *
 * @param decodeRequestMs milliseconds of each decoding request
 * @param decodeGraphMultiple the number of decoding requests is padded to a multiple of it, because
 *     graphs are captured for such sizes; 1 for none
 * @param allReduceMs milliseconds of each step for the latency of collectives
 * @param allReduceTokenMs milliseconds of each token of a step, prompt or decoded, for their data
 * @param mixedOverlap part of the shorter of prefill and decode that is hidden behind the longer
 *     one in a step with both: 0 for the sum of both, 1 for the longer one alone
 */
public record StepOverheads(
    double decodeRequestMs,
    int decodeGraphMultiple,
    double allReduceMs,
    double allReduceTokenMs,
    double mixedOverlap) {

  /** Those of an engine that has none. */
  public static final StepOverheads NONE = new StepOverheads(0, 1, 0, 0, 0);

  /** The largest multiple that is allowed. */
  public static final int MAX_GRAPH_MULTIPLE = 1024;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public StepOverheads {
    Checks.finiteAtLeast0("decodeRequestMs", decodeRequestMs);
    if (decodeGraphMultiple < 1 || decodeGraphMultiple > MAX_GRAPH_MULTIPLE) {
      throw new IllegalArgumentException(
          "decodeGraphMultiple must be from 1 to "
              + MAX_GRAPH_MULTIPLE
              + ", not "
              + decodeGraphMultiple);
    }
    Checks.finiteAtLeast0("allReduceMs", allReduceMs);
    Checks.finiteAtLeast0("allReduceTokenMs", allReduceTokenMs);
    if (!(mixedOverlap >= 0 && mixedOverlap <= 1)) {
      throw new IllegalArgumentException("mixedOverlap must be from 0 to 1, not " + mixedOverlap);
    }
  }

  /**
   * The requests that a step computes for some that decode.
   *
   * @param decoding their number, at least 0
   * @return the next multiple
   */
  public long padded(int decoding) {
    return ((long) decoding + decodeGraphMultiple - 1) / decodeGraphMultiple * decodeGraphMultiple;
  }

  /** The milliseconds that the number of decoding requests adds to a step. */
  double requestsMs(int decoding) {
    return (decodeRequestMs + allReduceTokenMs) * padded(decoding);
  }

  /** The time of a step of which prefill and decode alone would take these. */
  double mixedMs(double prefillMs, double decodeMs) {
    double shorter = Math.min(prefillMs, decodeMs) - allReduceMs;
    return Math.max(prefillMs, decodeMs) + (1 - mixedOverlap) * shorter;
  }
}
