package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.gateway.route.ModelFleet.Target;
import io.kvasir.gateway.route.RequestFault;
import io.kvasir.gateway.route.RequestFaults;
import java.util.Locale;
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
final class ProxyRun implements Placing.Result {

  private static final Logger LOG = LoggerFactory.getLogger(ProxyRun.class);
  private static final int OK = 200;

  private final Exchange exchange;
  private final Inbound inbound;
  private final Placing placing;
  private final Services services;
  private final ResponseOwners owners;
  private final Tally tally;
  private final Consumer<ProxyRun> onOver;
  private final Runnable admitted = this::onAdmitted;
  private final QueueWait wait;
  private final RequestFaults faults;

  /** Written by the event loop. */
  private volatile boolean queuedByRouter;

  private boolean inService;
  private boolean over;
  private int attempts;

  /** Whether the last attempt is a repetition at the same worker. */
  private boolean repeated;

  private Runnable cancelWait = () -> {};
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
    this.wait =
        new QueueWait(exchange.loop(), services.settings().queueTimeoutMs(), this::onQueueTimeout);
    this.faults = new RequestFaults(services.fleets().ejection(), placing.candidates().all());
  }

  void start() {
    exchange.onGone(this::onClientGone);
    services.retries().onRequest();
    switch (services.admission().arrive(admitted)) {
      case ADMITTED -> {
        inService = true;
        place();
      }
      case WAITS -> {
        // If that is too late, the action runs soon, and leaves.
        cancelWait = () -> services.admission().withdraw(admitted);
        wait.begin();
      }
      case REFUSED -> refuse(Refusals.queueFull());
    }
  }

  /** Room was made, on any thread. */
  private void onAdmitted() {
    exchange
        .loop()
        .execute(
            () -> {
              inService = true;
              if (over) {
                leave();
                return;
              }
              endWait();
              place();
            });
  }

  private void onQueueTimeout() {
    if (!over && (queuedByRouter || services.admission().withdraw(admitted))) {
      refuse(Refusals.queueTimeout(services.settings().queueTimeoutMs()));
    }
  }

  private void place() {
    try {
      placing.choose(this);
    } catch (RuntimeException e) {
      LOG.error("a request failed in the gateway itself", e);
      onRefused(Problem.internal());
    }
  }

  @Override
  public void onWaiting(Runnable cancel) {
    cancelWait = cancel;
  }

  @Override
  public void onQueued(Runnable cancel) {
    cancelWait = cancel;
    queuedByRouter = true;
    wait.begin();
  }

  /** Whether the request waits in the fleet router's queue. Thread-safe. */
  boolean queuedByRouter() {
    return queuedByRouter;
  }

  private void endWait() {
    cancelWait = () -> {};
    queuedByRouter = false;
    wait.end();
  }

  @Override
  public void onRefused(Problem problem) {
    if (!over) {
      refuse(problem);
    }
  }

  @Override
  public void onChosen(ChosenTarget choice) {
    endWait();
    if (over) {
      choice.onFinished(false);
      return;
    }
    current = choice;
    attempts++;
    repeated = false;
    tally.onPlaced(choice);
    faults.onSent(choice.worker(), services.nowNs());
    ReplyMemory memory = new ReplyMemory(services.bodies(), exchange.client());
    Relay next = new Relay(exchange, inbound, choice, services, tally, memory, this);
    relay = next;
    next.send();
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
    if (fault != null) {
      faults.onFailed(fault, services.nowNs());
    }
    if (!Repetition.afterSend(inbound) || !mayRetry(choice, true)) {
      return false;
    }
    endAttempt(false);
    retry(choice, kind + status);
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
    if (!connected && repeated) {
      attempts--; // nothing was repeated
    }
    if (Repetition.after(failure, inbound) && mayRetry(choice, connected)) {
      retry(choice, reason(failure));
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

  private static String reason(UpstreamFailure failure) {
    return failure.kind().name().toLowerCase(Locale.ROOT);
  }

  private void failed(UpstreamFailure failure) {
    tally.onFailed(reason(failure));
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
    boolean allowed = attempts < services.settings().maxAttempts() && Repetition.afterSend(inbound);
    attempts += allowed ? 1 : 0;
    repeated = allowed;
    return allowed;
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
  private boolean mayRetry(ChosenTarget choice, boolean connected) {
    boolean bodyIsKept = relay != null && !relay.streamsBody();
    if (!bodyIsKept) {
      return false;
    }
    placing.candidates().onFailed(choice.worker());
    return !faults.isOwn()
        && attempts < services.settings().maxAttempts()
        && placing.candidates().hasOther(services.nowNs())
        && (!connected || services.retries().take());
  }

  private void retry(ChosenTarget choice, String reason) {
    LOG.debug("{}: {} at worker {}, next attempt", tally, reason, choice.worker().name());
    tally.onRetry(reason);
    relay = null;
    place();
  }

  /** The first part of a reply is forwarded: no attempt follows. */
  void onBegun() {
    faults.onBegun(services.nowNs());
    if (relay == null || !relay.streamsBody()) { // otherwise the body may still be arriving
      inbound.releaseBody();
    }
  }

  /** The worker's reply was forwarded completely; {@code good} without an error of its own. */
  void onServed(int status, boolean good) {
    faults.onServed(services.nowNs());
    if (status == OK && good && tally.isErrorFree() && current != null) {
      current.onServed(tally.cachedTokens());
    }
    endAttempt(status < 400 && good);
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
    if (over) {
      return;
    }
    if (relay != null) {
      relay.cancel();
    }
    tally.onError("the client went away");
    close(Problem.CLIENT_GONE);
  }

  private void refuse(Problem problem) {
    tally.onRefused();
    if (problem.status() != 502 && problem.status() != 504) {
      services.metrics().onRefused(problem.code());
    }
    if (tally.isErrorFree()) {
      tally.onError(problem.message());
    }
    if (exchange.replying()) { // with the comments of a stream
      exchange.write(Replies.errorEvent(inbound.endpoint(), problem));
      exchange.abort();
      close(OK);
    } else {
      Replies.problem(exchange, inbound.endpoint(), inbound.id(), problem, new Headers());
      close(problem.status());
    }
  }

  /** Ends the request before its reply is complete, because the gateway stops. */
  void cut() {
    if (!over) {
      if (relay != null && relay.forwarding()) {
        relay.cut();
        tally.onError("the gateway was shut down");
        close(OK);
      } else {
        if (relay != null) {
          relay.cancel();
        }
        refuse(Refusals.shuttingDown());
      }
    }
  }

  /** The request's attempt in flight, if there is one, still is. */
  void onAlive() {
    if (current != null) {
      current.onAlive();
    }
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
    faults.onAbandoned(services.nowNs());
    endAttempt(false);
    cancelWait.run();
    endWait();
    tally.close(status);
    leave();
    inbound.releaseBody();
    onOver.accept(this);
  }

  private void leave() {
    if (inService) {
      inService = false;
      services.admission().leave();
    }
  }
}
