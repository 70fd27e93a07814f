package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyFailure;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.gateway.tokens.StoredTurns;
import io.kvasir.model.Errors;
import io.netty.buffer.ByteBuf;
import java.net.ProtocolException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One attempt: forwards a worker's reply to the client. The head is held back until the first data
 * arrives, so that an attempt that fails before can be repeated without a trace. The comments of a
 * stream pass at once, with the head before them; they carry no output, so that the attempt can be
 * repeated until the first data event, and the next attempt's events follow in the same reply.
 *
 * <p>Confined to the exchange's event loop.
 */
final class Relay implements ReplyListener {

  /** Statuses after which another worker may give a better answer. */
  static final Set<Integer> RETRIED = Set.of(408, 429, 500, 502, 503, 504);

  private final Exchange exchange;
  private final Inbound inbound;
  private final ChosenTarget choice;
  private final Services services;
  private final ProxySettings settings;
  private final Tally tally;
  private final ProxyRun run;
  private final ReplyMemory memory;
  private final ClientReply reply;
  private final SentRequest sent;
  private final SilenceLimit limit;

  private @Nullable ReplyBody body;
  private Headers head = new Headers();
  private int status;
  private boolean forwarding;
  private boolean failed;
  private boolean paused;
  private boolean over;

  Relay(
      Exchange exchange,
      Inbound inbound,
      ChosenTarget choice,
      Services services,
      Tally tally,
      ReplyMemory memory,
      ProxyRun run) {
    this.exchange = exchange;
    this.inbound = inbound;
    this.choice = choice;
    this.services = services;
    this.settings = services.settings();
    this.tally = tally;
    this.run = run;
    this.memory = memory;
    this.reply = new ClientReply(exchange, inbound, choice, tally);
    this.sent = new SentRequest(exchange, inbound, choice, this);
    this.limit = new SilenceLimit(exchange.loop(), this);
  }

  void send() {
    exchange.onWritable(this::onClientWritable);
    limit.begin();
    sent.send(settings);
    restartLimit();
  }

  // ---- the worker's reply -------------------------------------------------------------------

  @Override
  public void onHead(int replyStatus, Headers headers) {
    if (over) {
      return;
    }
    status = replyStatus;
    head = headers;
    int rank = ForwardedHeaders.reportedRank(headers, choice.worker());
    if (rank >= 0) {
      tally.onRank(rank);
    }
    if (RETRIED.contains(replyStatus) && run.retries(choice, "status_", replyStatus)) {
      cancel();
      return;
    }
    if (!redirects(headers)) {
      StoredTurns turns = services.tokens().turns();
      body = ReplyBody.of(exchange, inbound, choice, status, headers, tally, memory, turns, run);
    }
  }

  /**
   * Keeps the addresses of workers from the client. A redirection to the request's own target is
   * followed where it only adds or drops a slash at the end, and is a failure of the worker
   * otherwise, because the client would come back with the same request.
   *
   * @return whether this reply is not the client's
   */
  private boolean redirects(Headers headers) {
    if (headers.get(Redirect.LOCATION) == null) {
      return false;
    }
    String target = sent.target();
    Redirect redirect =
        Redirect.replaceIn(headers, choice.worker().spec(), target, services::isWorker);
    String next = redirect == null ? null : redirect.location();
    if (redirect == null || status / 100 != 3 || next == null || !redirect.leadsTo(target)) {
      return false;
    }
    boolean sameTarget = redirect.changesSlash(target);
    if (sameTarget && sent.follow(next)) {
      restartLimit();
    } else if (sameTarget && sent.streamsBody()) {
      onBodyFailed(Refusals.redirectedUpload(choice.worker().name(), next));
    } else {
      onAbort(new UpstreamFailure(Kind.INVALID, "it redirects the request to another address"));
    }
    return true;
  }

  /** Data of a good answer is evidence of the worker's health; heads and comments are not. */
  private void noteAnswering(ReplyBody from) {
    if (status / 100 == 2 && !from.awaitsData()) {
      choice.worker().onAnswering();
    }
  }

  @Override
  public void onChunk(ByteBuf bytes) {
    ReplyBody from = body;
    if (over || from == null) {
      bytes.release();
      return;
    }
    ByteBuf out;
    try {
      long nowNs = System.nanoTime();
      out = from.onBytes(bytes, nowNs);
      noteAnswering(from);
      boolean passes = forwarding || (out != null && from.awaitsData());
      if (passes && !paused && !over) {
        limit.onSign(nowNs);
      }
    } catch (ProtocolException e) {
      onAbort(new UpstreamFailure(Kind.INVALID, Errors.reason(e)));
      return;
    } catch (ReplyBody.NoRoomException e) {
      onNoRoom();
      return;
    }
    if (out != null) {
      if (from.errorStatus() != 0 && onErrorEvent(from.errorStatus())) {
        out.release();
        return;
      }
      if (from.awaitsData()) {
        reply.head(status, head, from.isStream());
      } else {
        begin(from);
      }
      exchange.write(out);
      if (exchange.full() && !paused && sent.isBegun()) {
        paused = true;
        sent.pause();
        restartLimit();
      }
    }
  }

  /** The budget has no room for what must be kept of the reply: by no fault of the worker. */
  private void onNoRoom() {
    Problem problem = Problem.of(BodyFailure.noRoom());
    cancel();
    if (forwarding) {
      reply.cut(streams(), problem.message());
    }
    run.onBodyFailed(problem);
  }

  /**
   * The engine reports a failure of its own in its stream. Before any output it is a failed attempt
   * like a reply with that status. Whether the request goes to another worker.
   */
  private boolean onErrorEvent(int errorStatus) {
    if (failed) {
      return false;
    }
    failed = true;
    tally.onStreamError();
    if (!forwarding && run.retries(choice, "error_event_", errorStatus)) {
      cancel();
      return true;
    }
    if (forwarding) {
      run.onErrorEvent(errorStatus);
    }
    tally.onError("the engine reported an error in its stream");
    return false;
  }

  private void begin(ReplyBody from) {
    if (!forwarding) {
      forwarding = true;
      sent.onBegun();
      run.onBegun();
      reply.head(status, head, from.isStream());
      restartLimit();
    }
  }

  @Override
  public void onEnd() {
    ReplyBody from = body;
    if (over || from == null) {
      return;
    }
    ByteBuf rest = from.onEnd();
    if (!forwarding && from.awaitsData()) {
      if (rest != null) {
        rest.release();
      }
      onAbort(new UpstreamFailure(Kind.CLOSED, "the reply ended before its first event"));
      return;
    }
    if (rest != null && from.errorStatus() != 0 && onErrorEvent(from.errorStatus())) {
      rest.release();
      return;
    }
    finish();
    begin(from);
    if (rest != null) {
      exchange.write(rest);
    }
    // First, so that the client's next request finds the rank without this one.
    run.onServed(status, !failed);
    exchange.end();
  }

  @Override
  public void onAbort(UpstreamFailure failure) {
    if (over) {
      return;
    }
    if (failure.kind() == Kind.STALE_CONNECTION && sent.isKept() && run.repeats()) {
      tally.onRepeated();
      sent.repeat();
      return;
    }
    cancel();
    if (forwarding) {
      if (streams() && !failed) {
        tally.onStreamError();
      }
      reply.cut(streams(), "worker " + choice.worker().name() + " failed: " + failure.message());
      run.onFailedLater(failure, status);
    } else {
      run.onFailedUnseen(choice, failure);
    }
  }

  private boolean streams() {
    return body != null && body.isStream();
  }

  // ---- the client, and time -------------------------------------------------------------------

  @Override
  public void onWritable() {
    if (!over) {
      sent.onWritable();
    }
  }

  /** Restarts the time limit of the request's body. */
  void onBodyMoved() {
    if (!forwarding) {
      restartLimit();
    }
  }

  /** The request's body did not arrive: by the client's fault, and not the worker's. */
  void onBodyFailed(Problem problem) {
    if (!over) {
      cancel();
      if (forwarding) {
        exchange.abort();
      }
      run.onBodyFailed(problem);
    }
  }

  /** Whether the request's body is streamed, so that the attempt cannot be repeated. */
  boolean streamsBody() {
    return sent.streamsBody();
  }

  private boolean waitsForBody() {
    return !forwarding && sent.waitsForClient();
  }

  private void onClientWritable() {
    if (paused && !over) {
      paused = false;
      sent.resume();
      restartLimit();
    }
  }

  /** The limit of silence that applies now. */
  long limitMs() {
    if (paused) {
      return settings.clientTimeoutMs();
    }
    if (forwarding) {
      return settings.idleTimeoutMs();
    }
    return waitsForBody() ? settings.bodyTimeoutMs() : settings.firstByteTimeoutMs();
  }

  private void restartLimit() {
    if (!over) {
      limit.restart();
    }
  }

  /** How long the engine may show signs of life without data; a streamed body has no limit. */
  long dataLimitMs() {
    boolean waits = !forwarding && !paused && !sent.streamsBody();
    return waits ? settings.firstTokenTimeoutMs() : Long.MAX_VALUE;
  }

  /** The side that has to act has been silent for too long, or has sent no data. */
  void onSilent(boolean withoutData) {
    if (paused) {
      cancel();
      exchange.abort();
      run.onClientStuck();
    } else if (waitsForBody()) {
      onBodyFailed(Problem.of(BodyFailure.timeout(limitMs())));
    } else {
      String late =
          withoutData
              ? "no data arrived for " + settings.firstTokenTimeoutMs()
              : "nothing arrived for " + limitMs();
      onAbort(new UpstreamFailure(Kind.TIMEOUT, late + " milliseconds"));
    }
  }

  /** Stops the attempt. The client's reply stays as it is. */
  void cancel() {
    if (!over) {
      finish();
      sent.cancel();
    }
  }

  private void finish() {
    over = true;
    limit.stop();
    memory.release();
    sent.stop();
  }

  /** Whether something of the reply was forwarded, comments before its data aside. */
  boolean forwarding() {
    return forwarding;
  }

  /** Ends a reply that has begun, because the gateway stops. */
  void cut() {
    cancel();
    reply.cut(streams(), "the gateway is shutting down");
  }
}
