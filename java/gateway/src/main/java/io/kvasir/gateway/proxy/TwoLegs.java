package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyFailure;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.gateway.disagg.BadAnswerException;
import io.kvasir.gateway.disagg.LegBody;
import io.kvasir.gateway.disagg.PeerFacts;
import io.kvasir.gateway.disagg.PrefillAnswer;
import io.kvasir.gateway.route.FleetWorker;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The path of a request whose prompt one worker computes and whose answer another one: the prefill
 * worker is chosen and asked before the decode worker or at the same time, as the dialect demands,
 * and what it hands over goes into the decode worker's request.
 *
 * <p>Confined to the request's event loop.
 */
final class TwoLegs implements FirstLeg, FirstLeg.Choosing, PrefillLeg.Receiver {

  private static final Logger LOG = LoggerFactory.getLogger(TwoLegs.class);

  private final PrefillAttempt attempt;
  private final Inbound inbound;
  private final Placing placing;
  private final Services services;
  private final Tally tally;
  private final Answering decode;
  private final CandidateWorkers decodes;
  private final EarlierAnswer earlier;
  private final PrefillRetries retries;
  private final Handover handover = new Handover();

  private @Nullable ChosenTarget decoder;

  /** Whether the decode worker computes the prompt too. */
  private boolean whole;

  /** Whether the request was served, while the prefill worker may still be at work. */
  private boolean detached;

  /**
   * Begins without a worker.
   *
   * @param placing chooses among the prefill workers
   * @param decodes the workers that may answer
   */
  TwoLegs(
      EventLoop loop,
      Inbound inbound,
      Placing placing,
      CandidateWorkers decodes,
      Services services,
      Tally tally,
      Answering decode,
      EarlierAnswer earlier) {
    this.attempt = new PrefillAttempt(loop, inbound, services, placing.candidates().all());
    this.inbound = inbound;
    this.placing = placing;
    this.services = services;
    this.tally = tally;
    this.decode = decode;
    this.decodes = decodes;
    this.earlier = earlier;
    this.retries =
        new PrefillRetries(inbound, placing.candidates(), decodes, decode.attempts(), services);
  }

  /** Chooses a prefill worker, and then has a decode worker chosen. */
  @Override
  public void place() {
    if (isStale() && !beginsAgain()) {
      serveWhole(PrefillRetries.EXPIRED);
    } else if (handover.isOpen() || whole) {
      placeDecode();
    } else if (decodes.isOnlyWhole()) {
      serveWhole(LocalPrefill.NO_DECODE_WORKER);
    } else {
      placing.choose(this);
    }
  }

  /** Gives an old transfer up; whether another may begin. */
  private boolean beginsAgain() {
    FleetWorker prefiller = Objects.requireNonNull(handover.worker());
    cancel();
    return retries.afterExpiry(prefiller);
  }

  @Override
  public boolean isSplit() {
    return true;
  }

  @Override
  public boolean isStale() {
    return handover.isStale(services.nowNs());
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

  private void placeDecode() {
    if (!whole && decodes.isOnlyWhole()) {
      cancel();
      serveWhole(LocalPrefill.NO_DECODE_WORKER);
    } else {
      decode.place(whole ? Leg.WHOLE : Leg.DECODE, handover.prefiller());
    }
  }

  private void serveWhole(String reason) {
    whole = true;
    services.metrics().onLocalPrefill(reason);
    decode.place(Leg.WHOLE, null);
  }

  @Override
  public Answering answering() {
    return decode;
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
    handover.choose(services.transfers().dialect(choice.worker()));
    if (handover.lacksRank(choice)) {
      choice.onFinished(false);
      serveWhole("rank_unnamed");
      return;
    }
    attempt.book(choice);
    Wait wait = new Wait();
    decode.onWaiting(wait);
    attempt.findPeer(
        peer -> {
          if (!wait.isCancelled()) {
            guard(() -> begin(choice, peer));
          }
        });
  }

  private void begin(ChosenTarget choice, @Nullable PeerFacts peer) {
    decode.onPlaced();
    if (peer == null) {
      attempt.onAsked();
      onLost(new UpstreamFailure(Kind.CONNECT, "it does not say where its KV is to be had"));
      return;
    }
    int answers = Splitting.transfers(inbound, Objects.requireNonNull(inbound.body()));
    handover.begin(services.transfers().nextIds(answers), inbound, choice, peer, earlier);
    if (handover.dialect().isSerial()) {
      send();
    } else {
      placeDecode();
    }
  }

  @Override
  public LegBody body() {
    return whole ? LegBody.WHOLE : handover.decode();
  }

  @Override
  public @Nullable Consumer<String> onParams(ChosenTarget from) {
    return earlier.receiver(from, !whole);
  }

  @Override
  public void onSent(ChosenTarget to) {
    decoder = to;
    earlier.begin();
    if (!handover.isOpen()) {
      return;
    }
    boolean serial = handover.dialect().isSerial();
    if (serial && !inbound.streams()) {
      attempt.onComputed(); // when the blocks are taken is not seen before the answer's end
    } else if (!serial && !attempt.isSent() && handover.prefiller() == null) {
      send();
    }
  }

  private void send() {
    tally.onPrefillSent(attempt.booked(), handover.dialect().countsTransferred());
    if (handover.dialect().isSerial()) {
      decode.attempts().onPrefillSent();
    }
    attempt.send(handover.prefill(), this);
  }

  @Override
  public void onStatus(int status, Headers headers, byte[] body) {
    attempt.onAnswered();
    Runnable end = () -> refused(attempt.booked(), status, headers, body);
    guard(handover.failsPull(status) ? this::repeat : end);
  }

  private void repeat() {
    attempt.repeat(handover.prefill(), this);
  }

  private void refused(ChosenTarget choice, int status, Headers headers, byte[] body) {
    Runnable answer = () -> decode.onAnswered(status, headers, body);
    if (Relay.RETRIED.contains(status)) {
      attempt.onRefused(status);
      lost(choice, "prefill_status_" + status, null, answer);
    } else if (status / 100 == 3) {
      onLost(new UpstreamFailure(Kind.INVALID, "it redirects the request to another address"));
    } else {
      attempt.onServed();
      attempt.end(false);
      if (!detached && decode.drop()) {
        answer.run();
      }
    }
  }

  @Override
  public void onPrefilled(Headers headers, PrefillAnswer answer) {
    attempt.onAnswered();
    guard(() -> take(attempt.booked(), headers, answer));
  }

  private void take(ChosenTarget choice, Headers headers, PrefillAnswer read) {
    if (handover.dialect().hasFreed(read)) {
      attempt.onServed();
      cancel();
      serveWhole("prefill_ended");
      return;
    }
    try {
      handover.dialect().check(read);
    } catch (BadAnswerException e) {
      onLost(PrefillLeg.unreadable(e));
      return;
    }
    attempt.onServed();
    if (!handover.pulls()) { // what was pulled says nothing of what the rank held
      choice.onServed(read.cachedTokens());
    }
    choice.onPrefillDone();
    tally.onPrefilled(read.cachedTokens());
    handover.onPrefilled(read, services.nowNs());
    if (!handover.dialect().isSerial()) {
      onComputed();
    } else if (handover.dialect().isComplete(read)) {
      attempt.end(true);
      decode.onAnswered(200, headers, read.json());
    } else {
      placeDecode();
    }
  }

  /** The decode worker may still wait for the blocks. */
  private void onComputed() {
    if (handover.isOpen()) {
      attempt.onComputed();
    } else {
      attempt.end(true);
    }
  }

  @Override
  public void onNoRoom() {
    cancel();
    if (!detached && decode.drop()) {
      decode.onRefused(Problem.of(BodyFailure.noRoom()));
    }
  }

  @Override
  public void onLost(UpstreamFailure failure) {
    attempt.onAnswered();
    if (failure.kind() == Kind.TIMEOUT && handover.dropsPull()) { // the decode worker may be stuck
      guard(this::repeat);
      return;
    }
    ChosenTarget choice = attempt.booked();
    attempt.onLost(failure);
    Runnable refuse = () -> decode.onRefused(Refusals.unanswered(choice.worker().name(), failure));
    guard(() -> lost(choice, "prefill_" + failure.reason(), failure.kind(), refuse));
  }

  /**
   * The leg has failed.
   *
   * @param kind what has happened to the connection; null if there is an answer
   */
  private void lost(ChosenTarget choice, String reason, @Nullable Kind kind, Runnable refuse) {
    tally.onPrefillFailed(choice, reason);
    services.transfers().forgetPeer(choice.worker());
    attempt.end(false);
    forget();
    if (detached || !decode.drop()) {
      return;
    }
    boolean answering = decoder != null;
    decoder = null;
    boolean own = attempt.isFaultOfRequest();
    switch (retries.afterFailure(choice.worker(), reason, kind, own, answering)) {
      case PREFILL -> place();
      case WHOLE -> serveWhole("prefill_failed");
      case REFUSED -> refuse.run();
    }
  }

  /** The transfer is over, and nothing of the request is needed again. */
  @Override
  public void onBegun() {
    if (decoder != null && inbound.streams()) {
      handover.measure(services.metrics(), decoder.worker(), services.nowNs());
    }
    handover.forget();
    attempt.onTransferred();
  }

  @Override
  public boolean losesTransfer() {
    FleetWorker prefiller = handover.worker();
    if (prefiller == null || !handover.losesOnce()) {
      return false;
    }
    retries.afterLostTransfer(prefiller);
    cancel();
    return true;
  }

  @Override
  public void onFailed(boolean sent) {
    FleetWorker prefiller = handover.worker();
    if (prefiller != null && sent && !handover.survivesFailure(services.nowNs())) {
      services.transfers().forgetPeer(prefiller);
      cancel();
    }
  }

  /** A leg that still runs goes on to its end, which frees its blocks. */
  @Override
  public void onServed() {
    detached = true;
    earlier.onServed();
  }

  @Override
  public void onAlive() {
    attempt.onAlive();
  }

  @Override
  public void onOver() {
    earlier.onOver();
    if (!detached) {
      cancel();
    } else {
      attempt.onTransferred();
    }
  }

  private void cancel() {
    attempt.cancel();
    forget();
  }

  private void forget() {
    tally.onPrefillGivenUp();
    handover.forget();
  }
}
