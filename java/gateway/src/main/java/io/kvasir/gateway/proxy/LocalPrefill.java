package io.kvasir.gateway.proxy;

import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.fleet.router.legs.WholeOrApart;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import org.jspecify.annotations.Nullable;

/**
 * Decides by {@link WholeOrApart} whether a decode worker computes the prompt of a request.
 *
 * <p>Used by one thread at a time.
 */
final class LocalPrefill {

  /** Why a decode worker computes the prompt: no prefill worker is left. */
  static final String NO_PREFILL_WORKER = "no_prefill_worker";

  /** Why a worker without a role serves the request: no decode worker is left. */
  static final String NO_DECODE_WORKER = "no_decode_worker";

  private final Inbound inbound;
  private final ModelFleet decodes;
  private final CandidateWorkers candidates;
  private final WholeOrApart rule;
  private boolean counted;

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
    this.decodes = decodes;
    this.candidates = candidates;
    this.rule =
        new WholeOrApart(prefills.router(), decodes.router(), maxTokens, decodes.legRates());
  }

  /** Whether a worker is left that can compute the prompt and answer; workers come and go. */
  boolean isPossible() {
    return candidates.hasOther(Leg.WHOLE);
  }

  /**
   * Decides for one request. O(blocks + ranks).
   *
   * @param request the request as the router of the prefill workers sees it
   * @return why a decode worker computes the prompt, as metrics name it; null if it does not
   */
  @Nullable String reason(FleetRequest request) {
    if (!isPossible()) {
      return null;
    }
    return rule.reason(
        request,
        new WholeOrApart.DecodeSide() {
          @Override
          public FleetRequest request(Leg leg, long prefilledBy) {
            return RoutedRequest.of(
                request.id(),
                inbound,
                leg,
                prefilledBy,
                candidates.filter(decodes, leg),
                request.targets());
          }

          @Override
          public long mostMatchedTokens() {
            return mostMatched(request);
          }
        });
  }

  /** A decision is carried out. The rate of requests counts each of them once. */
  void decided(@Nullable String reason) {
    if (!counted) {
      counted = true;
      rule.decided(reason);
    }
  }

  /** Whether the decision takes the tokens of the prompt. */
  boolean readsTokens(FleetRequest request) {
    return isPossible() && rule.readsTokens(request);
  }

  private long mostMatched(FleetRequest request) {
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
}
