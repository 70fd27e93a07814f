package io.kvasir.gateway.proxy;

import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FirstTokenForecast;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.trtllm.DisaggFlow;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a decode worker computes a prompt itself: where little of it is missing there, or
 * where the first token is expected sooner than with a prefill worker, although each answer that
 * the decode rank generates stands still while it computes.
 *
 * <p>Used by one thread at a time.
 */
final class LocalPrefill {

  /** The term of policy {@code projected} for the computation of the prompt. */
  private static final String COMPUTE = "compute";

  private final Inbound inbound;
  private final ModelFleet prefills;
  private final ModelFleet decodes;
  private final CandidateWorkers candidates;
  private final long maxTokens;

  /**
   * Begins.
   *
   * @param candidates the workers that may decode
   * @param maxTokens most missing tokens that a decode worker computes; negative for no such limit
   */
  LocalPrefill(
      Inbound inbound,
      ModelFleet prefills,
      ModelFleet decodes,
      CandidateWorkers candidates,
      long maxTokens) {
    this.inbound = inbound;
    this.prefills = prefills;
    this.decodes = decodes;
    this.candidates = candidates;
    this.maxTokens = maxTokens;
  }

  /**
   * Decides for one request. O(blocks + ranks).
   *
   * @param request the request as the router of the prefill workers sees it
   * @return why a decode worker computes the prompt, as metrics name it; null if it does not
   */
  @Nullable String reason(FleetRequest request) {
    if (maxTokens >= 0) {
      long matched = matchedTokens(request);
      return DisaggFlow.needsContext(matched, request.inputTokens(), maxTokens) ? null : "short";
    }
    if (!forecasts(prefills) || !forecasts(decodes)) {
      return null;
    }
    CandidateCost whole = choice(decode(request, Leg.WHOLE));
    CandidateCost first = choice(placement(prefills.router().preview(request)));
    CandidateCost second = choice(decode(request, Leg.DECODE));
    if (whole == null || first == null || second == null) {
      return null;
    }
    double stalledMs = whole.activeRequests() * whole.terms().getOrDefault(COMPUTE, 0.0);
    double wholeMs = firstTokenMs(whole) + stalledMs;
    return wholeMs < firstTokenMs(first) + firstTokenMs(second) ? "sooner" : null;
  }

  /** Whether the decision takes the tokens of the prompt. */
  boolean readsTokens(FleetRequest request) {
    return maxTokens >= 0 && decodes.router().readsTokens(request);
  }

  /**
   * Tokens that the decode rank holds which would be chosen; where a router cannot say which, the
   * most that a rank holds.
   */
  private long matchedTokens(FleetRequest request) {
    Placement whole = decode(request, Leg.WHOLE);
    if (whole != null) {
      return whole.matchedTokens();
    }
    FollowedRanks followed = decodes.followed();
    if (followed == null || !request.isTokenised()) {
      return 0;
    }
    BlockHashes hashes = request.hashes(HashFormat.KVASIR, decodes.tokensPerBlock());
    RankMatches matches = new RankMatches();
    followed.index().match(hashes.sequence(), hashes.blocks(), matches);
    long most = 0;
    for (int i = 0; i < matches.size(); i++) {
      most = Math.max(most, matches.blocks(i));
    }
    return most * decodes.tokensPerBlock();
  }

  private static boolean forecasts(ModelFleet fleet) {
    return fleet.router().name().equals(FleetRouterKind.PROJECTED);
  }

  private @Nullable Placement decode(FleetRequest request, Leg leg) {
    FleetRequest part =
        RoutedRequest.of(
            request.id(), inbound, leg, candidates.filter(decodes, leg), request.targets());
    return placement(decodes.router().preview(part));
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
