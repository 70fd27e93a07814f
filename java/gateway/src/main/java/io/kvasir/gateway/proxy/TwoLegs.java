package io.kvasir.gateway.proxy;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.gateway.disagg.BadAnswerException;
import io.kvasir.gateway.disagg.LegBody;
import io.kvasir.gateway.disagg.PeerFacts;
import io.kvasir.gateway.disagg.PrefillAnswer;
import io.kvasir.gateway.disagg.Transfer;
import io.kvasir.gateway.disagg.TransferDialect;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.RequestFault;
import io.kvasir.gateway.route.RequestFaults;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of a request whose prompt one worker computes and whose answer another one: the prefill
 * worker is chosen and asked, before the decode worker or at the same time as the dialect demands,
 * and what it hands over goes into the decode worker's request. Written once for all dialects.
 *
 * <p>Confined to the request's event loop.
 */
final class TwoLegs implements FirstLeg, Placing.Result, PrefillLeg.Receiver {

  private static final Logger LOG = LoggerFactory.getLogger(TwoLegs.class);

  /** Age at which no engine holds what it has handed over. */
  private static final long MOST_AGED_MS = 25_000;

  private final EventLoop loop;
  private final Inbound inbound;
  private final Placing placing;
  private final Services services;
  private final Tally tally;
  private final Answering decode;
  private final RequestFaults faults;
  private final boolean decodesWhole;

  private @Nullable TransferDialect dialect;
  private @Nullable Transfer transfer;
  private @Nullable ChosenTarget chosen;
  private @Nullable PrefillLeg leg;
  private @Nullable ChosenTarget decoder;
  private PrefillAnswer answer = PrefillAnswer.NONE;

  /** Whether the decode worker computes the prompt too. */
  private boolean whole;

  private boolean detached;
  private long answeredNs;
  private @Nullable FleetWorker prefiller;

  /** Whether another decode worker has had the transfer. */
  private boolean takenOver;

  /** Whether a decode worker has answered that the transfer has failed. */
  private boolean lostOnce;

  /**
   * Begins without a worker.
   *
   * @param placing chooses among the prefill workers
   * @param decodesWhole whether the decode workers can compute prompts
   */
  TwoLegs(
      EventLoop loop,
      Inbound inbound,
      Placing placing,
      Services services,
      Tally tally,
      Answering decode,
      boolean decodesWhole) {
    this.loop = loop;
    this.inbound = inbound;
    this.placing = placing;
    this.services = services;
    this.tally = tally;
    this.decode = decode;
    this.decodesWhole = decodesWhole;
    this.faults = new RequestFaults(services.fleets().ejection(), placing.candidates().all());
  }

  /** Chooses a prefill worker, and then has a decode worker chosen. */
  @Override
  public void place() {
    if (transfer != null && dialect().isSerial() && agedMs() >= MOST_AGED_MS) {
      cancel();
    }
    if (transfer != null || whole) {
      decode.place(whole ? Leg.WHOLE : Leg.DECODE);
    } else if (decodesWhole && placing.candidates().leastLoaded() == null) {
      serveWhole("no_prefill_worker");
    } else {
      placing.choose(this);
    }
  }

  /** An exception here must not leave a request without an end. */
  private void guard(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      LOG.error("a request failed in the gateway itself", e);
      cancel();
      if (decode.drop()) {
        decode.onRefused(Problem.internal());
      }
    }
  }

  private void serveWhole(String reason) {
    whole = true;
    services.metrics().onLocalPrefill(reason);
    decode.place(Leg.WHOLE);
  }

  // ---- the choice of the prefill worker -------------------------------------------------------

  @Override
  public void onWaiting(Runnable cancel) {
    decode.onWaiting(cancel);
  }

  @Override
  public void onQueued(Runnable cancel) {
    decode.onQueued(cancel);
  }

  @Override
  public void onRefused(Problem problem) {
    decode.onRefused(problem);
  }

  @Override
  public void onLocal(String reason) {
    decode.onPlaced();
    if (!decode.isOver()) {
      serveWhole(reason);
    }
  }

  @Override
  public void onChosen(ChosenTarget choice) {
    decode.onPlaced();
    if (decode.isOver()) {
      choice.onFinished(false);
      return;
    }
    dialect = services.transfers().dialect(choice.worker());
    if (dialect().needsRank() && choice.dpRank() < 0 && choice.worker().profile().ranks() > 1) {
      choice.onFinished(false);
      serveWhole("rank_unnamed");
      return;
    }
    chosen = choice;
    Wait wait = new Wait();
    decode.onWaiting(wait);
    services
        .transfers()
        .findPeer(
            choice.worker(),
            choice.dpRank(),
            loop,
            peer -> {
              if (!wait.isCancelled()) {
                guard(() -> begin(choice, peer));
              }
            });
  }

  private void begin(ChosenTarget choice, @Nullable PeerFacts peer) {
    decode.onPlaced();
    if (peer == null) {
      onLost(new UpstreamFailure(Kind.CONNECT, "it does not say where its KV is to be had"));
      return;
    }
    transfer =
        new Transfer(
            services.transfers().nextId(),
            inbound.id(),
            inbound.endpoint().path(),
            Objects.requireNonNull(inbound.body()),
            inbound.conversation().id(),
            choice.worker(),
            choice.dpRank(),
            peer);
    if (dialect().isSerial()) {
      send();
    } else {
      decode.place(Leg.DECODE);
    }
  }

  private TransferDialect dialect() {
    return Objects.requireNonNull(dialect);
  }

  // ---- the leg --------------------------------------------------------------------------------

  @Override
  public LegBody body() {
    Transfer current = transfer;
    return whole || current == null ? LegBody.WHOLE : dialect().decode(current, answer);
  }

  @Override
  public void onSent(ChosenTarget to) {
    decoder = to;
    if (transfer == null || chosen == null) {
      return;
    }
    if (!dialect().isSerial() && leg == null) {
      send();
    } else if (dialect().isSerial() && !inbound.streams()) {
      end(true); // when the blocks are taken is not seen
    }
  }

  private void send() {
    ChosenTarget choice = Objects.requireNonNull(chosen);
    FleetWorker worker = choice.worker();
    tally.onPrefillSent(choice, dialect().countsTransferred());
    faults.onSent(worker, services.nowNs());
    ChosenTarget prefill = choice.with(dialect().prefill(Objects.requireNonNull(transfer)));
    prefiller = worker;
    leg =
        new PrefillLeg(
            loop,
            worker,
            Outbound.request(inbound, prefill),
            new ReplyMemory(services.bodies(), inbound.head().client()),
            services.transfers().settings().prefillTimeoutMs(),
            this);
  }

  @Override
  public void onAnswer(int status, Headers headers, byte[] body) {
    leg = null;
    guard(() -> take(Objects.requireNonNull(chosen), status, headers, body));
  }

  private void take(ChosenTarget choice, int status, Headers headers, byte[] body) {
    if (status == 200) {
      onPrefilled(choice, headers, body);
    } else if (Relay.RETRIED.contains(status)) {
      RequestFault fault = RequestFault.ofStatus(status);
      if (fault != null) {
        faults.onFailed(fault, services.nowNs());
      }
      lost(
          choice,
          "prefill_status_" + status,
          isHarmless(),
          true,
          () -> decode.onAnswered(status, headers, body));
    } else if (status / 100 == 3) {
      onLost(new UpstreamFailure(Kind.INVALID, "it redirects the request to another address"));
    } else {
      faults.onServed(services.nowNs());
      end(false);
      if (!detached && decode.drop()) {
        decode.onAnswered(status, headers, body);
      }
    }
  }

  private void onPrefilled(ChosenTarget choice, Headers headers, byte[] body) {
    PrefillAnswer read;
    try {
      read = PrefillAnswer.of(body);
      dialect().check(read);
    } catch (BadAnswerException e) {
      onLost(new UpstreamFailure(Kind.INVALID, "the answer to its prefill leg: " + e.getMessage()));
      return;
    }
    faults.onServed(services.nowNs());
    choice.onServed(read.cachedTokens());
    choice.onPrefillDone();
    tally.onPrefilled(read.cachedTokens());
    answeredNs = services.nowNs();
    if (!dialect().isSerial()) {
      end(true);
    } else if (dialect().isComplete(read)) {
      end(true);
      decode.onAnswered(200, headers, read.json());
    } else {
      answer = read;
      decode.place(Leg.DECODE);
    }
  }

  @Override
  public void onLost(UpstreamFailure failure) {
    leg = null;
    ChosenTarget choice = Objects.requireNonNull(chosen);
    faults.onFailed(RequestFault.of(failure), services.nowNs());
    guard(
        () ->
            lost(
                choice,
                "prefill_" + failure.kind().name().toLowerCase(Locale.ROOT),
                failure.kind() != Kind.TIMEOUT && isHarmless(),
                failure.kind() != Kind.CONNECT,
                () -> decode.onRefused(Refusals.unanswered(choice.worker().name(), failure))));
  }

  /** Whether the request may be sent again: a prefill leg alone leaves nothing behind. */
  private boolean isHarmless() {
    return decoder == null || Repetition.afterSend(inbound);
  }

  /**
   * The leg has failed.
   *
   * @param again whether the request may be sent again
   * @param connected whether the attempt cost the engine something
   * @param refuse ends the request
   */
  private void lost(
      ChosenTarget choice, String reason, boolean again, boolean connected, Runnable refuse) {
    tally.onPrefillFailed(choice, reason);
    services.transfers().forgetPeer(choice.worker());
    end(false);
    forget();
    if (detached || !decode.drop()) {
      return;
    }
    decoder = null;
    placing.candidates().onFailed(choice.worker());
    boolean other = placing.candidates().hasOther(services.nowNs());
    boolean retried =
        again
            && !faults.isOwn()
            && (other || decodesWhole)
            && decode.takesAttempt()
            && (!connected || services.retries().take());
    if (!retried) {
      refuse.run();
    } else if (other) {
      place();
    } else {
      serveWhole("prefill_failed");
    }
  }

  // ---- what the decode leg reports ------------------------------------------------------------

  /** The transfer is over, and nothing of the request is needed again. */
  @Override
  public void onBegun() {
    if (answeredNs != 0 && prefiller != null && decoder != null && inbound.streams()) {
      long ns = services.nowNs() - answeredNs;
      services.metrics().onTransferred(prefiller.name(), decoder.worker().name(), ns);
    }
    transfer = null;
    answer = PrefillAnswer.NONE;
    if (leg == null) {
      end(true);
    }
  }

  @Override
  public boolean losesTransfer() {
    Transfer failed = transfer;
    if (failed == null || lostOnce || !dialect().isSerial()) {
      return false;
    }
    lostOnce = true;
    if (placing.candidates().hasOther(services.nowNs())) {
      placing.candidates().onFailed(failed.prefill());
    }
    cancel();
    return true;
  }

  @Override
  public void onFailed(boolean sent) {
    if (transfer == null || !sent) {
      return;
    }
    if (!dialect().isSerial() || takenOver || agedMs() >= dialect().reusableMs()) {
      services.transfers().forgetPeer(transfer.prefill());
      cancel();
    }
    takenOver = true;
  }

  private long agedMs() {
    return (services.nowNs() - answeredNs) / 1_000_000;
  }

  /** A leg that still runs goes on to its end, which frees its blocks. */
  @Override
  public void onServed() {
    detached = true;
  }

  @Override
  public void onAlive() {
    if (chosen != null) {
      chosen.onAlive();
    }
  }

  @Override
  public void onOver() {
    if (!detached) {
      cancel();
    } else if (leg == null) {
      end(true);
    }
  }

  private void cancel() {
    if (leg != null) {
      leg.cancel();
      leg = null;
      faults.onAbandoned(services.nowNs());
    }
    end(false);
    forget();
  }

  private void forget() {
    tally.onPrefillGivenUp();
    answeredNs = 0;
    transfer = null;
    answer = PrefillAnswer.NONE;
  }

  private void end(boolean success) {
    ChosenTarget ended = chosen;
    chosen = null;
    if (ended != null) {
      ended.onFinished(success);
    }
  }
}
