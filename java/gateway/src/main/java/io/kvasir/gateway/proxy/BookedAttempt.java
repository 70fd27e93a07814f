package io.kvasir.gateway.proxy;

import io.kvasir.exchange.EventLoop;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Placement;
import io.kvasir.gateway.disagg.LegBody;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleet.Target;
import io.kvasir.gateway.tokens.PromptTokens;
import io.kvasir.hash.HashFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An attempt that a fleet router has booked, and what it may prove about its worker. It is sent or
 * dropped.
 *
 * <p>Made on any thread, because the evidence takes O(tokens); used on the request's event loop.
 */
final class BookedAttempt {

  private static final Logger LOG = LoggerFactory.getLogger(BookedAttempt.class);

  private final ModelFleet among;
  private final Placement placement;
  private final @Nullable Target target;
  private final int rank;
  private final @Nullable AttemptEvidence evidence;
  private final long promptTokens;
  private @Nullable NamedPrompt prompt;

  private BookedAttempt(
      ModelFleet among,
      Placement placement,
      @Nullable Target target,
      int rank,
      @Nullable AttemptEvidence evidence,
      long promptTokens) {
    this.among = among;
    this.placement = placement;
    this.target = target;
    this.rank = rank;
    this.evidence = evidence;
    this.promptTokens = promptTokens;
  }

  /**
   * Takes a placement.
   *
   * @param observed whether the attempt is to be evidence
   */
  static BookedAttempt of(
      EventLoop loop,
      Inbound inbound,
      ModelFleet among,
      FleetRequest request,
      Placement placement,
      boolean observed) {
    Target target = among.target(placement.rank());
    int rank = target == null ? ModelFleet.ANY_RANK : steered(target, inbound);
    AttemptEvidence evidence = null;
    if (target != null && observed) {
      try {
        evidence = evidence(loop, inbound, among, request, placement, target, rank);
      } catch (RuntimeException e) {
        LOG.error("an attempt is no evidence about worker {}", target.worker().name(), e);
      }
    }
    PromptTokens tokens = inbound.tokens();
    long count = tokens == null ? -1 : tokens.count();
    return new BookedAttempt(among, placement, target, rank, evidence, count);
  }

  /** Names the request's blocks for a recording; null for none. */
  BookedAttempt recorded(@Nullable FleetRequest request) {
    prompt = request == null ? null : NamedPrompt.of(request, among.tokensPerBlock());
    return this;
  }

  /** The rank that a request can demand of its target. */
  static int steered(Target target, Inbound inbound) {
    return target.worker().steering(inbound.endpoint().path()).steers()
        ? target.dpRank()
        : ModelFleet.ANY_RANK;
  }

  private static @Nullable AttemptEvidence evidence(
      EventLoop loop,
      Inbound inbound,
      ModelFleet among,
      FleetRequest request,
      Placement placement,
      Target target,
      int rank) {
    FollowedRanks followed = among.followed();
    List<int[]> tokens = request.tokens();
    if (followed == null || tokens == null || tokens.size() != 1) {
      return null;
    }
    // Where the answer streams, its first token says more exactly when the prompt was computed.
    Runnable onStored =
        request.streams() ? null : () -> among.router().onPrefillDone(placement.attempt());
    return AttemptEvidence.begin(
        loop,
        followed,
        target.worker(),
        inbound.client(),
        rank,
        placement.matchedTokens(),
        tokens.get(0),
        request.hashes(HashFormat.KVASIR, among.tokensPerBlock()),
        inbound::isPlain,
        onStored);
  }

  /** The target of the attempt, which is sent; null, and the attempt over, if it was removed. */
  @Nullable ChosenTarget send() {
    if (target == null) {
      drop();
      return null;
    }
    target.worker().membership().onSent();
    return new ChosenTarget(
        target.worker(),
        rank,
        placement.reason().id(),
        placement.matchedTokens(),
        among.router(),
        placement.attempt(),
        evidence,
        prompt,
        LegBody.WHOLE,
        Weighing.of(placement, promptTokens));
  }

  /** The attempt is not sent. */
  void drop() {
    if (evidence != null) {
      evidence.onFinished();
    }
    among.router().onFinished(placement.attempt(), false);
  }
}
