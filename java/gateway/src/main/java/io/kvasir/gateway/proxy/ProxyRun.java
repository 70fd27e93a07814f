package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet.Target;
import io.kvasir.gateway.route.RequestFault;
import io.kvasir.gateway.route.RequestFaults;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request whose body has been read, from its admission to the end of its reply. It is sent to
 * one worker after another until a reply has begun or no further attempt is allowed.
 *
 * <p>Confined to the exchange's event loop.
 */
final class ProxyRun implements FirstLeg.Answering {

  private static final Logger LOG = LoggerFactory.getLogger(ProxyRun.class);

  private final Exchange exchange;
  private final Inbound inbound;
  private final Placing placing;
  private final Services services;
  private final ResponseOwners owners;
  private final Tally tally;
  private final Consumer<ProxyRun> onOver;
  private final Turn turn;
  private final RequestFaults faults;
  private final Attempts attempts;
  private final EarlierAnswer earlier;
  private FirstLeg first;
  private boolean over;
  private @Nullable Relay relay;
  private @Nullable ChosenTarget current;

  /**
   * Prepares the run.
   *
   * @param onOver receives this run once when the request is over, whatever became of it
   */
  ProxyRun(
      Exchange exchange,
      Inbound inbound,
      Placing placing,
      Services services,
      ResponseOwners owners,
      Tally tally,
      Consumer<ProxyRun> onOver) {
    this.exchange = exchange;
    this.inbound = inbound;
    this.placing = placing;
    this.services = services;
    this.owners = owners;
    this.tally = tally;
    this.onOver = onOver;
    this.turn =
        new Turn(
            exchange.loop(),
            services.admission(),
            inbound.tenant(),
            tally.expectedTokens(),
            services.settings().queueTimeoutMs(),
            this::next,
            this::refuse);
    this.faults = new RequestFaults(services.fleets().ejection(), placing.candidates().all());
    this.attempts = new Attempts(services.settings().maxAttempts());
    this.earlier = new EarlierAnswer(services, inbound, tally);
    this.first = new OneLeg(this, earlier);
  }

  /** Has one of other workers compute the prompt. Before {@link #start}. */
  void split(Placing prefills) {
    CandidateWorkers decodes = placing.candidates();
    first =
        new TwoLegs(exchange.loop(), inbound, prefills, decodes, services, tally, this, earlier);
  }

  /** The state of a request that two workers serve. */
  FirstLeg first() {
    return first;
  }

  void start() {
    exchange.onGone(this::onClientGone);
    services.retries().onRequest();
    guard(turn::begin);
  }

  private void next() {
    guard(first::place);
  }

  @Override
  public void place(Leg leg, @Nullable FleetWorker prefiller) {
    placing.leg(leg, prefiller);
    guard(() -> placing.choose(this));
  }

  private void guard(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      LOG.error("a request failed in the gateway itself", e);
      onRefused(Problem.internal());
    }
  }

  @Override
  public void onWaiting(Runnable cancel) {
    turn.onWaiting(cancel);
  }

  @Override
  public void onQueued(Runnable cancel) {
    turn.onQueued(cancel);
  }

  @Override
  public void onPlaced() {
    turn.end();
  }

  /** Whether it waits in the fleet router's queue. Thread-safe. */
  boolean queuedByRouter() {
    return turn.queuedByRouter();
  }

  @Override
  public void onRefused(Problem problem) {
    if (!over) {
      refuse(problem);
    }
  }

  @Override
  public void onChosen(ChosenTarget chosen) {
    turn.end();
    if (over || first.isStale()) {
      chosen.onFinished(false);
      if (!over) {
        next();
      }
      return;
    }
    current = chosen; // before what can throw
    ChosenTarget choice = chosen.with(first.body());
    current = choice;
    attempts.onSent();
    tally.onPlaced(choice);
    faults.onSent(choice.worker(), services.nowNs());
    ReplyMemory memory = new ReplyMemory(services.bodies(), exchange.client());
    relay = new Relay(exchange, inbound, choice, services, tally, memory, this);
    relay.send();
    first.onSent(choice);
  }

  @Override
  public boolean isOver() {
    return over;
  }

  @Override
  public Attempts attempts() {
    return attempts;
  }

  @Override
  public boolean drop() {
    if (over || (relay != null && relay.forwarding())) {
      return false;
    }
    turn.cancel();
    if (relay != null) {
      relay.cancel();
      relay = null;
      faults.onAbandoned(services.nowNs());
    }
    endAttempt(false);
    return true;
  }

  @Override
  public void onAnswered(int status, Headers headers, byte[] body) {
    close(PrefillReply.write(exchange, inbound, status, headers, body, tally));
  }

  // ---- what the relay reports ---------------------------------------------------------------

  /**
   * A worker answered with a status that another worker may not give. Whether the request goes to
   * another one; the relay is over then.
   *
   * @param kind what has the status, as the first part of the reason in the metrics
   */
  boolean retries(ChosenTarget choice, String kind, int status) {
    RequestFault fault = RequestFault.ofStatus(status);
    tally.onFailed(kind + status);
    boolean harmless = Repetition.afterSend(inbound);
    boolean transfers = harmless && status == 500 && first.losesTransfer();
    if (transfers) {
      faults.onAbandoned(services.nowNs());
    } else if (fault != null) {
      faults.onFailed(fault, services.nowNs());
    }
    if (!harmless || !mayRetry(choice, true, transfers)) {
      return false;
    }
    endAttempt(false);
    retry(choice, kind + status, true);
    return true;
  }

  /** The engine reports a failure of its own after it has begun to answer. */
  void onErrorEvent(int status) {
    tally.onFailed("error_event_" + status);
    faults.onFailed(Objects.requireNonNull(RequestFault.ofStatus(status)), services.nowNs());
  }

  /** An attempt failed before anything of its reply was forwarded. */
  void onFailedUnseen(ChosenTarget choice, UpstreamFailure failure) {
    failed(failure);
    boolean connected = failure.kind() != Kind.CONNECT;
    if (!connected) {
      attempts.onUnsent();
    }
    if (Repetition.after(failure, inbound) && mayRetry(choice, connected, false)) {
      retry(choice, failure.reason(), connected);
      return;
    }
    tally.onError(failure.logged());
    refuse(Refusals.unanswered(choice.worker().name(), failure));
  }

  /** An attempt failed after the reply had begun. The reply is cut. */
  void onFailedLater(UpstreamFailure failure, int status) {
    failed(failure);
    tally.onError(failure.logged());
    close(status);
  }

  private void failed(UpstreamFailure failure) {
    tally.onFailed(failure.reason());
    if (failure.kind() != Kind.STALE_CONNECTION) { // for which the connection's age is the reason
      faults.onFailed(RequestFault.of(failure), services.nowNs());
    }
    endAttempt(false);
  }

  /**
   * Whether the attempt is repeated at the same worker, because its connection was closed before
   * the request can have arrived. It counts as an attempt.
   */
  boolean repeats() {
    return attempts.repeat(Repetition.afterSend(inbound));
  }

  /** The request's body did not arrive, or the gateway has no memory for a part of the reply. */
  void onBodyFailed(Problem problem) {
    if (relay != null && relay.forwarding()) {
      tally.onError(problem.message());
      close(problem.status());
    } else {
      refuse(problem);
    }
  }

  /** Whether another worker may be tried. An attempt without a connection costs engines nothing. */
  private boolean mayRetry(ChosenTarget choice, boolean connected, boolean same) {
    if (relay == null || relay.streamsBody()) { // the body is not kept
      return false;
    }
    if (!same) {
      placing.candidates().onFailed(choice.worker());
    }
    return !faults.isOwn()
        && attempts.isLeft()
        && (same || placing.candidates().hasOther(first.isSplit()))
        && (!connected || services.retries().take());
  }

  private void retry(ChosenTarget choice, String reason, boolean sent) {
    LOG.debug("{}: {} at worker {}, next attempt", tally, reason, choice.worker().name());
    tally.onRetry(reason);
    relay = null;
    first.onFailed(sent);
    next();
  }

  /** The first part of a reply is forwarded: no attempt follows. */
  void onBegun() {
    faults.onBegun(services.nowNs());
    first.onBegun();
    if (current != null) {
      current.leg().clear();
    }
    if (relay == null || !relay.streamsBody()) { // otherwise the body may still be arriving
      inbound.releaseBody();
    }
  }

  /** The worker's reply was forwarded completely; {@code good} without an error of its own. */
  void onServed(int status, boolean good) {
    faults.onServed(services.nowNs());
    if (status == 200 && good && tally.isErrorFree() && current != null) {
      current.onServed(tally.cachedTokens());
    }
    endAttempt(status < 400 && good);
    if (status < 400 && good) {
      first.onServed();
    }
    close(status);
  }

  /** A worker stored a response. */
  void onResponseId(ChosenTarget choice, String responseId) {
    owners.put(responseId, new Target(choice.worker(), choice.dpRank()));
  }

  /** The client does not read its reply. */
  void onClientStuck() {
    tally.onError("the client did not read its reply");
    close(Problem.CLIENT_GONE);
  }

  // ---- ends -----------------------------------------------------------------------------------

  private void onClientGone() {
    if (!over) {
      tally.onError("the client went away");
      close(Problem.CLIENT_GONE);
    }
  }

  private void refuse(Problem problem) {
    tally.onRefused();
    if (problem.status() != 502 && problem.status() != 504) {
      services.metrics().onRefused(problem.code());
    }
    if (tally.isErrorFree()) {
      tally.onError(problem.message());
    }
    close(Replies.refuse(exchange, inbound, problem));
  }

  /** Ends the request before its reply is complete, because the gateway stops. */
  void cut() {
    if (!over) {
      if (relay != null && relay.forwarding()) {
        relay.cut();
        tally.onError("the gateway was shut down");
        close(200);
      } else {
        refuse(Refusals.shuttingDown());
      }
    }
  }

  /** The request's attempt in flight, if there is one, still is. */
  void onAlive() {
    if (current != null) {
      current.onAlive();
    }
    first.onAlive();
  }

  /** Runs an action on the run's event loop. */
  void onLoop(Runnable action) {
    exchange.loop().execute(action);
  }

  private void endAttempt(boolean success) {
    ChosenTarget ended = current;
    current = null;
    if (ended != null) {
      ended.onFinished(success);
    }
  }

  private void close(int status) {
    over = true;
    Release.all(
        relay == null ? () -> {} : relay::cancel, // no effect on one that has ended
        () -> faults.onAbandoned(services.nowNs()),
        () -> endAttempt(false),
        first::onOver,
        turn::leave,
        () -> tally.close(status),
        inbound::releaseBody,
        () -> onOver.accept(this));
  }
}
