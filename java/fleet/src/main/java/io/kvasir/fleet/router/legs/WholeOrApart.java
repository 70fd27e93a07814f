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
 * first step at the decode rank, whose queue of now is shorter by then) and the delay of later
 * requests. A rank that serves requests in order of arrival, is busy for the share u of its time,
 * and has work for q ahead delays them by {@code rate * s * (q + s / 2) / (1 - u)} in all if it
 * computes a prompt for s: a request that arrives before the prompt begins waits s longer, one that
 * arrives while it runs half of that on average, and each delay causes others. The rate is that of
 * its role: every request reaches a decode rank, but only prompts that are computed apart reach a
 * prefill rank. Of n ranks with the role, the rate of one counts for 1 / n, because a request goes
 * where it waits least. So the longest prompts are computed where few other requests arrive.
 * docs/policies.md has the figures.
 *
 * <p>As thread-safe as the routers.
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

  /** The term of policy {@code projected} for the prompts before this one. */
  private static final String QUEUE = "queue";

  private final FleetRouter prefills;
  private final FleetRouter decodes;
  private final long maxTokens;
  private final LegRates rates;

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
   * @param rates the requests of these fleets, which {@link #decided} counts
   */
  public WholeOrApart(FleetRouter prefills, FleetRouter decodes, long maxTokens, LegRates rates) {
    this.prefills = prefills;
    this.decodes = decodes;
    this.maxTokens = maxTokens;
    this.rates = rates;
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
    Placement local = whole(side);
    Placement prefilled = placement(prefills.preview(prompt));
    CandidateCost whole = choice(local);
    CandidateCost first = choice(prefilled);
    if (local == null || prefilled == null || whole == null || first == null) {
      return null;
    }
    FleetRequest answer = side.request(Leg.DECODE, first.rank().workerId());
    CandidateCost second = choice(placement(decodes.preview(answer)));
    if (second == null) {
      return null;
    }
    LegRates.PerRank rate = rates.perRank(prefilled.candidates().size(), local.candidates().size());
    double wholeMs = firstTokenMs(whole) + othersMs(whole, local, rate.decode());
    double firstMs = firstTokenMs(first);
    double queueMs = term(second, QUEUE);
    double apartMs =
        firstMs
            + Math.max(0, queueMs - firstMs)
            + firstTokenMs(second)
            - queueMs
            + othersMs(first, prefilled, rate.prefill());
    return wholeMs < apartMs ? SOONER : null;
  }

  /**
   * A decision is carried out.
   *
   * @param reason why a decode worker computes the prompt; null if it does not
   */
  public void decided(@Nullable String reason) {
    rates.onDecided(reason == null);
  }

  /** The delay of all later requests by a prompt, at a rate of requests in a millisecond. */
  private static double othersMs(CandidateCost candidate, Placement placement, double perMs) {
    double computeMs = term(candidate, COMPUTE);
    double busyFactor = computeMs > 0 ? 1 + term(candidate, OTHERS) / computeMs : 1; // 1 / (1 - u)
    double waitingMs = computeMs * (term(candidate, QUEUE) + computeMs / 2) * busyFactor;
    return perMs / placement.candidates().size() * waitingMs;
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
