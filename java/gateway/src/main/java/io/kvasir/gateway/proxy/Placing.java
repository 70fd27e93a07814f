package io.kvasir.gateway.proxy;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.gateway.exchange.EventLoop;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleet.Target;
import io.kvasir.gateway.tokens.PromptTokens;
import io.kvasir.gateway.tokens.TokenQuestions;
import io.kvasir.gateway.tokens.TokenRequest;
import io.kvasir.hash.HashFormat;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses the targets of one request's attempts: by the fleet router of its model, or by load where
 * a request has no prompt.
 *
 * <p>Confined to the request's event loop.
 */
final class Placing {

  private static final Logger LOG = LoggerFactory.getLogger(Placing.class);
  private static final double NS_PER_MS = 1e6;
  private static final AtomicLong NEXT_ID = new AtomicLong();

  private final EventLoop loop;
  private final Inbound inbound;
  private final @Nullable ModelFleet fleet;
  private final List<FleetWorker> workers;
  private final @Nullable Target owner;
  private final TokenQuestions questions;
  private final long arrivedNs;
  private final Set<FleetWorker> tried = new HashSet<>();

  /** What a choice comes to. */
  interface Result {

    void onChosen(ChosenTarget choice);

    void onWaiting(Runnable cancel);

    void onRefused(Problem problem);
  }

  /**
   * Begins without attempts.
   *
   * @param fleet the workers of the request's model; null for any model
   * @param workers the workers that may serve the request
   * @param owner the target that must serve it; null for any
   * @param questions finds the tokens of prompts
   * @param arrivedNs when the request arrived
   */
  Placing(
      EventLoop loop,
      Inbound inbound,
      @Nullable ModelFleet fleet,
      List<FleetWorker> workers,
      @Nullable Target owner,
      TokenQuestions questions,
      long arrivedNs) {
    this.loop = loop;
    this.inbound = inbound;
    this.fleet = fleet;
    this.workers = workers;
    this.owner = owner;
    this.questions = questions;
    this.arrivedNs = arrivedNs;
  }

  /** An attempt at a worker failed; the request does not return there. */
  void onFailed(FleetWorker worker) {
    tried.add(worker);
  }

  /** Whether a worker is left that can take the request. */
  boolean hasOther(long nowNs) {
    return owner == null && workers.stream().anyMatch(worker -> isLeft(worker, nowNs));
  }

  private boolean isLeft(FleetWorker worker, long nowNs) {
    return !tried.contains(worker)
        && worker.takes(nowNs)
        && (inbound.model().isEmpty() || worker.models().contains(inbound.model()));
  }

  /**
   * Chooses a target.
   *
   * @param result receives the choice or a refusal, at once or after a wait, on the event loop
   */
  void choose(Result result) {
    long nowNs = System.nanoTime();
    if (fleet == null || !inbound.endpoint().generates()) {
      chooseByLoad(nowNs, result);
      return;
    }
    if (owner != null && !owner.worker().takes(nowNs)) {
      result.onRefused(ownerGone());
      return;
    }
    FleetRequest request = request(fleet, nowNs);
    BodyScan body = inbound.body();
    if (inbound.tokens() == null && body != null && fleet.router().readsTokens(request)) {
      askTokens(fleet, body, nowNs, result);
    } else {
      settle(fleet, request, fleet.route(request), result);
    }
  }

  /** Routes again with the prompt's tokens, or with an estimate of their number. */
  private void askTokens(ModelFleet among, BodyScan body, long nowNs, Result result) {
    FleetWorker any = owner != null ? owner.worker() : leastLoaded(nowNs);
    if (any == null) {
      result.onRefused(Refusals.noWorker("no worker can take the request"));
      return;
    }
    boolean[] cancelled = {false};
    result.onWaiting(() -> cancelled[0] = true);
    questions.ask(
        any,
        loop,
        new TokenRequest(inbound.endpoint().path(), inbound.model(), body, inbound.prompt()),
        found -> {
          if (!cancelled[0]) {
            onTokens(among, found, result);
          }
        });
  }

  private void onTokens(ModelFleet among, PromptTokens found, Result result) {
    long nowNs = System.nanoTime();
    inbound.tokens(found);
    try {
      FleetRequest request = request(among, nowNs);
      RouteOutcome outcome = among.route(request);
      if (found.ids() == null
          && outcome instanceof RouteOutcome.Refused refused
          && refused.refusal() == Refusal.UNSUPPORTED_REQUEST) {
        chooseByLoad(nowNs, result); // a policy that needs the tokens themselves
      } else {
        settle(among, request, outcome, result);
      }
    } catch (RuntimeException e) {
      LOG.error("a request failed in the gateway itself", e);
      result.onRefused(Problem.internal());
    }
  }

  private FleetRequest request(ModelFleet among, long nowNs) {
    RankFilter filter =
        owner == null ? among.without(tried, inbound.model(), nowNs) : among.pin(owner);
    int expected = inbound.body() == null ? 0 : inbound.body().maxOutputTokens();
    PromptTokens tokens = inbound.tokens();
    FleetRequest.Builder request =
        FleetRequest.builder(NEXT_ID.incrementAndGet(), inbound.prompt())
            .conversationId(inbound.conversationId())
            .scope(inbound.scope())
            .filter(filter)
            .targets(inbound.urgency().targets().after((nowNs - arrivedNs) / NS_PER_MS))
            .strictPriority(inbound.urgency().priority())
            .streams(inbound.streams())
            .expectedOutputTokens(expected);
    if (tokens != null) {
      request.tokens(tokens.ids());
      request.inputTokens(tokens.count());
    }
    return request.build();
  }

  private void settle(ModelFleet among, FleetRequest request, RouteOutcome outcome, Result result) {
    if (outcome instanceof RouteOutcome.Placed placed) {
      place(among, request, placed.placement(), result);
    } else if (outcome instanceof RouteOutcome.Waiting waiting) {
      result.onWaiting(() -> waiting.outcome().cancel(false));
      CompletableFuture<RouteOutcome> unused =
          waiting
              .outcome()
              .whenComplete(
                  (later, failure) -> {
                    if (later != null) {
                      loop.execute(() -> settle(among, request, later, result));
                    } else if (!(failure instanceof CancellationException)) {
                      loop.execute(() -> result.onRefused(Problem.internal()));
                    }
                  });
    } else if (outcome instanceof RouteOutcome.Refused refused) {
      result.onRefused(Refusals.problem(refused));
    }
  }

  private void place(ModelFleet among, FleetRequest request, Placement placement, Result result) {
    Target target = among.target(placement.rank());
    if (target == null) {
      among.router().onFinished(placement.attempt(), false);
      result.onRefused(Refusals.noWorker("the chosen worker was removed"));
      return;
    }
    target.worker().onSent();
    int rank = steered(target);
    result.onChosen(
        new ChosenTarget(
            target.worker(),
            rank,
            placement.reason().id(),
            placement.matchedTokens(),
            among.router(),
            placement.attempt(),
            evidence(among, request, target.worker(), rank, placement)));
  }

  private @Nullable AttemptEvidence evidence(
      ModelFleet among, FleetRequest request, FleetWorker worker, int rank, Placement placement) {
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
        worker,
        inbound.client(),
        rank,
        placement.matchedTokens(),
        tokens.get(0),
        request.hashes(HashFormat.KVASIR, among.tokensPerBlock()),
        inbound::isPlain,
        onStored);
  }

  /** The rank that the request can demand of its target. */
  private int steered(Target target) {
    return target.worker().steering(inbound.endpoint().path()).steers()
        ? target.dpRank()
        : ModelFleet.ANY_RANK;
  }

  private void chooseByLoad(long nowNs, Result result) {
    if (owner != null) {
      if (owner.worker().takes(nowNs)) {
        result.onChosen(byLoad(owner.worker(), steered(owner), "explicit"));
      } else {
        result.onRefused(ownerGone());
      }
      return;
    }
    FleetWorker least = leastLoaded(nowNs);
    if (least == null) {
      result.onRefused(Refusals.noWorker("no worker can take the request"));
    } else {
      result.onChosen(byLoad(least, ModelFleet.ANY_RANK, "load"));
    }
  }

  private static ChosenTarget byLoad(FleetWorker worker, int dpRank, String reason) {
    worker.onSent();
    return new ChosenTarget(worker, dpRank, reason, 0, null, 0, null);
  }

  private @Nullable FleetWorker leastLoaded(long nowNs) {
    FleetWorker least = null;
    for (FleetWorker worker : workers) {
      if (isLeft(worker, nowNs)
          && (least == null || worker.activeRequests() < least.activeRequests())) {
        least = worker;
      }
    }
    return least;
  }

  private static Problem ownerGone() {
    return Refusals.noWorker("the worker that made the response cannot take requests now");
  }
}
