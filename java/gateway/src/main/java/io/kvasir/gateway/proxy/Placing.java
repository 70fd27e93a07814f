package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.EventLoop;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Refusal;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.InexactCause;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleet.Target;
import io.kvasir.gateway.tokens.PromptTokens;
import io.kvasir.gateway.tokens.StoredTurns.Earlier;
import io.kvasir.gateway.tokens.TokenQuestions;
import java.util.List;
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
 * <p>Confined to the request's event loop, except that a large prompt is decoded, hashed and routed
 * on one of the {@link BodyThreads} while the loop awaits the {@link Decision}.
 */
final class Placing {

  private static final Logger LOG = LoggerFactory.getLogger(Placing.class);
  private static final double NS_PER_MS = 1e6;
  private static final AtomicLong NEXT_ID = new AtomicLong();

  private final EventLoop loop;
  private final Inbound inbound;
  private Leg leg;
  private long prefilledBy = FleetRequest.NO_WORKER;
  private @Nullable LocalPrefill local;
  private final @Nullable ModelFleet fleet;
  private final CandidateWorkers candidates;
  private final Services services;
  private final long arrivedNs;
  private boolean counted; // by the model, as routed exactly or not

  /** Receives the outcome of a choice. */
  interface Result {
    void onChosen(ChosenTarget choice);

    /** The prompt's tokens are asked for, which has a short limit of its own. */
    void onWaiting(Runnable cancel);

    /** The request waits in the fleet router's queue, without a limit. */
    void onQueued(Runnable cancel);

    void onRefused(Problem problem);

    /** A decode worker is to compute the prompt, for a reason as metrics name it. */
    default void onLocal(String reason) {
      throw new IllegalStateException(reason);
    }
  }

  /** The outcome of routing. One of its methods runs, on the event loop. */
  private interface Decision {
    void settle();

    /** The request is over: the decision must leave nothing. */
    default void discard() {}
  }

  /**
   * Begins without attempts.
   *
   * @param leg the part of the request that is placed
   * @param fleet the workers of the request's model; null for any model
   * @param workers the workers that may serve the request
   * @param owner the target that must serve it; null for any
   * @param services the threads for large prompts, and what finds the tokens of prompts
   * @param arrivedNs when the request arrived
   */
  Placing(
      EventLoop loop,
      Inbound inbound,
      Leg leg,
      @Nullable ModelFleet fleet,
      List<FleetWorker> workers,
      @Nullable Target owner,
      Services services,
      long arrivedNs) {
    this.loop = loop;
    this.inbound = inbound;
    this.leg = leg;
    this.fleet = fleet;
    this.candidates = new CandidateWorkers(inbound, workers, owner, services);
    this.services = services;
    this.arrivedNs = arrivedNs;
  }

  /** The choice among workers that compute the prompt of the same request. */
  Placing prefills(ModelFleet prefills, ModelFleet decodes) {
    Placing made =
        new Placing(
            loop, inbound, Leg.PREFILL, prefills, prefills.workers(), null, services, arrivedNs);
    long most = services.transfers().settings().maxLocalPrefillTokens();
    made.local = new LocalPrefill(inbound, prefills, decodes, candidates, most);
    return made;
  }

  /**
   * The part of the request that is placed from now on, and the worker that has computed its
   * prompt.
   */
  void leg(Leg next, @Nullable FleetWorker prefiller) {
    leg = next;
    prefilledBy = prefiller == null ? FleetRequest.NO_WORKER : prefiller.id();
  }

  /** The workers that may serve the request. */
  CandidateWorkers candidates() {
    return candidates;
  }

  /**
   * Chooses a target.
   *
   * @param result receives the choice or a refusal, at once or after a wait, on the event loop
   */
  void choose(Result result) {
    inbound.trace().step("route");
    if (fleet == null || !inbound.endpoint().generates()) {
      candidates.chooseByLoad(leg, result);
    } else if (candidates.ownerRefuses()) {
      result.onRefused(Refusals.ownerGone());
    } else {
      start(fleet, result);
    }
  }

  private void start(ModelFleet among, Result result) {
    if (local != null && local.isPossible() && !candidates.hasOther(Leg.PREFILL)) {
      result.onLocal(LocalPrefill.NO_PREFILL_WORKER);
      return;
    }
    FleetRequest request = request(among);
    BodyScan body = inbound.body();
    BodyHold hold = inbound.hold();
    Earlier earlier =
        body == null ? Earlier.NONE : services.tokens().turns().upTo(body.previousResponseId());
    if (body == null
        || hold == null
        || body.length() + earlier.bytes() <= BodyThreads.LARGE_BYTES) {
      settle(decide(among, request, body, earlier, null, result), false, result);
      return;
    }
    Wait wait = new Wait();
    result.onWaiting(wait);
    boolean runs =
        services
            .threads()
            .run(
                hold,
                () -> {
                  if (!hold.released()) {
                    Decision decision = decide(among, request, body, earlier, hold, result);
                    loop.execute(() -> settle(decision, wait.isCancelled(), result));
                  }
                });
    if (!runs) {
      result.onRefused(BodyIntake.tooManyLargeBodies());
    }
  }

  private static void settle(Decision decision, boolean cancelled, Result result) {
    try {
      if (cancelled) {
        decision.discard();
      } else {
        decision.settle();
      }
    } catch (RuntimeException e) {
      LOG.error("a request failed in the gateway itself", e);
      result.onRefused(Problem.internal());
    }
  }

  /**
   * Routes a request, or makes the questions for its tokens. O(bytes).
   *
   * @param earlier the stored conversation that it continues
   * @param large what a request with a large body holds; null for any other request
   */
  private Decision decide(
      ModelFleet among,
      FleetRequest request,
      @Nullable BodyScan body,
      Earlier earlier,
      @Nullable BodyHold large,
      Result result) {
    try {
      boolean reads =
          among.router().readsTokens(request) || (local != null && local.readsTokens(request));
      if (inbound.tokens() == null && body != null && reads) {
        return questions(among, body, earlier, result);
      }
      if (inbound.tokens() == null && body != null && !counted) {
        counted = true;
        boolean matches = among.router().index() != null;
        count(among, matches ? InexactCause.TEXT_PREFIXES : InexactCause.POLICY);
      }
      String reason = local == null ? null : local.reason(request);
      if (local != null) {
        local.decided(reason);
      }
      if (reason != null) {
        return () -> result.onLocal(reason);
      }
      return new Routed(among, request, among.route(request), large, true, result);
    } catch (BodyPrompt.NoRoom e) {
      return () -> result.onRefused(e.problem());
    } catch (RuntimeException e) {
      LOG.error("a request failed in fleet router {}", among.router().name(), e);
      return () -> result.onRefused(Problem.internal());
    }
  }

  private Decision questions(ModelFleet among, BodyScan body, Earlier earlier, Result result) {
    Target owner = candidates.owner();
    FleetWorker any = owner != null ? owner.worker() : candidates.leastLoaded(leg);
    if (any == null) {
      return () -> result.onRefused(Refusals.noWorker(candidates.all()));
    }
    inbound.chargeTokens(body);
    TokenQuestions tokens = services.tokens();
    TokenQuestions.Prepared prepared = tokens.prepare(any, inbound.asked(body, earlier));
    return () -> ask(among, prepared, result);
  }

  /** Routes again with the prompt's tokens, or with an estimate of their number. */
  private void ask(ModelFleet among, TokenQuestions.Prepared prepared, Result result) {
    Wait wait = new Wait();
    result.onWaiting(wait);
    inbound.trace().step("tokens");
    services
        .tokens()
        .ask(
            prepared,
            loop,
            found -> {
              if (!wait.isCancelled()) {
                inbound.trace().step("route");
                inbound.tokens(found);
                count(among, found.missing());
                if (found.ids() != null && found.ids().size() == 1) {
                  among.breaks().onPrompt(found.ids().get(0));
                }
                start(among, result);
              }
            });
  }

  /** A request that only its owner can serve is not placed by what ranks hold. */
  private void count(ModelFleet among, @Nullable InexactCause missing) {
    if (candidates.owner() == null) {
      among.exactness().onPlaced(inbound.endpoint().id(), inbound.endpoint().path(), missing);
    }
  }

  /** An outcome of the router. O(bytes) to make. */
  private final class Routed implements Decision {

    private final ModelFleet among;
    private final FleetRequest request;
    private final RouteOutcome outcome;
    private final @Nullable BodyHold large;
    private final Result result;
    private final @Nullable BookedAttempt booked;
    private final Wait wait = new Wait();

    Routed(
        ModelFleet among,
        FleetRequest request,
        RouteOutcome outcome,
        @Nullable BodyHold large,
        boolean observed,
        Result result) {
      this.among = among;
      this.request = request;
      this.outcome = outcome;
      this.large = large;
      this.result = result;
      // Tokens that a decode worker reports as cached come from the prefill worker.
      boolean observes = observed && leg != Leg.DECODE;
      this.booked =
          outcome instanceof RouteOutcome.Placed placed
              ? BookedAttempt.of(loop, inbound, among, request, placed.placement(), observes)
                  .recorded(services.recording().records() ? request : null)
              : null;
    }

    @Override
    public void settle() {
      if (booked != null) {
        ChosenTarget choice = booked.send();
        if (choice == null) { // its worker has left since it was chosen
          start(among, result);
        } else {
          result.onChosen(choice);
        }
      } else if (outcome instanceof RouteOutcome.Waiting waiting) {
        inbound.trace().step("queue");
        result.onQueued(
            () -> {
              wait.run();
              waiting.outcome().cancel(false);
            });
        CompletableFuture<RouteOutcome> unused = waiting.outcome().whenComplete(this::onLater);
      } else if (outcome instanceof RouteOutcome.Refused refused) {
        onRefused(refused);
      }
    }

    private void onRefused(RouteOutcome.Refused refused) {
      PromptTokens tokens = inbound.tokens();
      if (tokens != null
          && tokens.ids() == null
          && refused.refusal() == Refusal.UNSUPPORTED_REQUEST) {
        candidates.chooseByLoad(leg, result); // a policy that needs the tokens themselves
      } else if (candidates.haveLeft(among)) {
        start(among, result);
      } else {
        result.onRefused(Refusals.problem(refused, candidates.all()));
      }
    }

    /** The wait is over. Runs on any thread. */
    private void onLater(@Nullable RouteOutcome later, @Nullable Throwable failure) {
      if (later == null) {
        if (!(failure instanceof CancellationException)) {
          loop.execute(
              () ->
                  Placing.settle(
                      () -> result.onRefused(Problem.internal()), wait.isCancelled(), result));
        }
        return;
      }
      boolean inBackground =
          large != null
              && services
                  .threads()
                  .run(
                      large,
                      () -> {
                        Routed next = new Routed(among, request, later, large, true, result);
                        loop.execute(() -> Placing.settle(next, wait.isCancelled(), result));
                      });
      if (!inBackground) {
        loop.execute(
            () ->
                Placing.settle(
                    new Routed(among, request, later, large, large == null, result),
                    wait.isCancelled(),
                    result));
      }
    }

    @Override
    public void discard() {
      if (booked != null) {
        booked.drop();
      } else if (outcome instanceof RouteOutcome.Waiting waiting) {
        waiting.outcome().cancel(false);
        CompletableFuture<RouteOutcome> unused =
            waiting
                .outcome()
                .whenComplete(
                    (later, failure) -> {
                      if (later instanceof RouteOutcome.Placed placed) { // before it was cancelled
                        among.router().onFinished(placed.placement().attempt(), false);
                      }
                    });
      }
    }
  }

  private FleetRequest request(ModelFleet among) {
    double waitedMs = (System.nanoTime() - arrivedNs) / NS_PER_MS;
    return RoutedRequest.of(
        NEXT_ID.incrementAndGet(),
        inbound,
        leg,
        prefilledBy,
        candidates.filter(among, leg),
        inbound.urgency().targets().after(waitedMs));
  }
}
