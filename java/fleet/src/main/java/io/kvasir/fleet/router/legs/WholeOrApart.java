package io.kvasir.fleet.router.legs;

import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FirstTokenForecast;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.trtllm.DisaggFlow;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a decode worker computes a prompt itself: where little of it is missing there, or
 * where the first token is expected sooner than with a prefill worker, although each answer that
 * the decode rank generates stands still while it computes.
 *
 * <p>Immutable; as thread-safe as the routers.
 */
public final class WholeOrApart {

  /** The limit that leaves the decision to the routers' forecasts. */
  public static final int BY_FORECAST = -1;

  /** Why a prompt is computed by the decode worker: little of it is missing there. */
  public static final String SHORT = "short";

  /** Why a prompt is computed by the decode worker: its first token is expected sooner. */
  public static final String SOONER = "sooner";

  /** The term of policy {@code projected} for the computation of the prompt. */
  private static final String COMPUTE = "compute";

  private final FleetRouter prefills;
  private final FleetRouter decodes;
  private final long maxTokens;

  /** The decode workers, as far as they concern one request. */
  public interface DecodeSide {

    /**
     * {@return the request as the router of the decode workers sees it}
     *
     * @param leg {@link Leg#WHOLE} or {@link Leg#DECODE}
     */
    FleetRequest request(Leg leg);

    /** {@return the most tokens of the prompt that a rank holds, where the router cannot tell} */
    long mostMatchedTokens();
  }

  /**
   * Begins.
   *
   * @param prefills the router of the prefill workers
   * @param decodes the router of the decode workers
   * @param maxTokens most missing tokens that a decode worker computes, or {@link #BY_FORECAST}
   */
  public WholeOrApart(FleetRouter prefills, FleetRouter decodes, long maxTokens) {
    this.prefills = prefills;
    this.decodes = decodes;
    this.maxTokens = maxTokens;
  }

  /**
   * Decides for one request. O(blocks + ranks).
   *
   * @param prompt the request as the router of the prefill workers sees it
   * @param side the decode workers
   * @return why a decode worker computes the prompt, as metrics name it; null if it does not
   */
  public @Nullable String reason(FleetRequest prompt, DecodeSide side) {
    if (maxTokens >= 0) {
      Placement whole = placement(decodes.preview(side.request(Leg.WHOLE)));
      long matched = whole == null ? side.mostMatchedTokens() : whole.matchedTokens();
      return DisaggFlow.needsContext(matched, prompt.inputTokens(), maxTokens) ? null : SHORT;
    }
    if (!forecasts(prefills) || !forecasts(decodes)) {
      return null;
    }
    CandidateCost whole = choice(placement(decodes.preview(side.request(Leg.WHOLE))));
    CandidateCost first = choice(placement(prefills.preview(prompt)));
    CandidateCost second = choice(placement(decodes.preview(side.request(Leg.DECODE))));
    if (whole == null || first == null || second == null) {
      return null;
    }
    double stalledMs = whole.activeRequests() * whole.terms().getOrDefault(COMPUTE, 0.0);
    double wholeMs = firstTokenMs(whole) + stalledMs;
    return wholeMs < firstTokenMs(first) + firstTokenMs(second) ? SOONER : null;
  }

  /**
   * Whether the decision takes the tokens of the prompt.
   *
   * @param request the request, with or without tokens
   * @return false if its text, or its arrival alone, is enough
   */
  public boolean readsTokens(FleetRequest request) {
    return maxTokens >= 0 && decodes.readsTokens(request);
  }

  private static boolean forecasts(FleetRouter router) {
    return router.name().equals(FleetRouterKind.PROJECTED);
  }

  private static @Nullable Placement placement(@Nullable RouteOutcome outcome) {
    return outcome instanceof RouteOutcome.Placed placed ? placed.placement() : null;
  }

  /** What is known of the rank that was chosen; null if nothing. */
  private static @Nullable CandidateCost choice(@Nullable Placement placement) {
    if (placement != null) {
      for (CandidateCost candidate : placement.candidates()) {
        if (candidate.rank().equals(placement.rank())) {
          return candidate;
        }
      }
    }
    return null;
  }

  private static double firstTokenMs(CandidateCost candidate) {
    FirstTokenForecast forecast = candidate.firstToken();
    return forecast == null ? Double.NaN : forecast.expectedMs();
  }
}
