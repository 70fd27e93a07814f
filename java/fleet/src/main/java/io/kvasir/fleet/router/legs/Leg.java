package io.kvasir.fleet.router.legs;

import io.kvasir.fleet.router.CostOverrides;
import io.kvasir.fleet.router.FleetRequestBuilder;

/** The part of a request that one worker serves. */
public enum Leg {
  /** All of it. */
  WHOLE,
  /** The prompt, whose KV another worker takes. */
  PREFILL,
  /** The answer, to a prompt that another worker has computed. */
  DECODE;

  /** Of a request whose prompt another worker has computed. */
  private static final CostOverrides COMPUTED = new CostOverrides(null, null, null, null, false);

  /**
   * Describes this part to the router that places it.
   *
   * @param request the request so far
   * @param streams whether the answer streams
   * @param outputTokens expected tokens of the answer; 0 if unknown
   * @return the same builder
   */
  public FleetRequestBuilder of(FleetRequestBuilder request, boolean streams, int outputTokens) {
    request.streams(this != PREFILL && streams);
    request.expectedOutputTokens(this == PREFILL ? 1 : outputTokens);
    if (this == DECODE) {
      request.generationOnly(true).overrides(COMPUTED);
    }
    return request;
  }
}
