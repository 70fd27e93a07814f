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
 * where the first token is expected sooner than with a prefill worker, counting what either road
 * costs others.
 *
 * <p>The second rule needs the forecasts of {@code projected} on both sides. Each road costs the
 * time to the first token (on the road apart: queue and prompt at the prefill rank, transfer and
 * first step at the decode rank) and the wait of later prompts for this one, the term {@code
 * others} of the rank that computes it. On a decode rank, the answers stand still besides while a
 * prompt is computed. A standstill counts a quarter of a wait for a first token, for each answer:
 * in full, it kept prompts away from idle decode ranks while others waited for seconds at the
 * prefill ranks, in generated mixes of short and long prompts. docs/policies.md has the figures.
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

  /** The term of policy {@code projected} for the prompts that wait for this one. */
  private static final String OTHERS = "others";

  /** Worth of a millisecond in which an answer stands still, in milliseconds to a first token. */
  private static final double STALL_WEIGHT = 0.25;

  private final FleetRouter prefills;
  private final FleetRouter decodes;
  private final long maxTokens;

  /** The decode workers, as far as they concern one request. */
  public interface DecodeSide {

    /**
     * {@return the request as the router of the decode workers sees it}
     *
     * @param leg {@link Leg#WHOLE} or {@link Leg#DECODE}
     * @param prefilledBy the worker that would compute the prompt; {@link FleetRequest#NO_WORKER}
     *     if it is the decode worker
     */
    FleetRequest request(Leg leg, long prefilledBy);

    /**
     * {@return the most tokens of the prompt that a rank holds, where the router has no preview}
     */
    long mostMatchedTokens();
  }

  /**
   * Makes the rule for two fleets.
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
      Placement whole = whole(side);
      long matched = whole == null ? side.mostMatchedTokens() : whole.matchedTokens();
      return DisaggFlow.needsContext(matched, prompt.inputTokens(), maxTokens) ? null : SHORT;
    }
    if (!forecasts(prefills) || !forecasts(decodes)) {
      return null;
    }
    CandidateCost whole = choice(whole(side));
    CandidateCost first = choice(placement(prefills.preview(prompt)));
    if (whole == null || first == null) {
      return null;
    }
    FleetRequest answer = side.request(Leg.DECODE, first.rank().workerId());
    CandidateCost second = choice(placement(decodes.preview(answer)));
    if (second == null) {
      return null;
    }
    double stalledMs = STALL_WEIGHT * whole.activeRequests() * term(whole, COMPUTE);
    double wholeMs = firstTokenMs(whole) + term(whole, OTHERS) + stalledMs;
    double apartMs = firstTokenMs(first) + term(first, OTHERS) + firstTokenMs(second);
    return wholeMs < apartMs ? SOONER : null;
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

  private @Nullable Placement whole(DecodeSide side) {
    return placement(decodes.preview(side.request(Leg.WHOLE, FleetRequest.NO_WORKER)));
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

  private static double term(CandidateCost candidate, String name) {
    return candidate.terms().getOrDefault(name, 0.0);
  }

  private static double firstTokenMs(CandidateCost candidate) {
    FirstTokenForecast forecast = candidate.firstToken();
    return forecast == null ? Double.NaN : forecast.expectedMs();
  }
}
