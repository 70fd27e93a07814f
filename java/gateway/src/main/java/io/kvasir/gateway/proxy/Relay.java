package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyFailure;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.exchange.ReplyListener;
import io.kvasir.exchange.UpstreamCall;
import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import io.kvasir.exchange.UpstreamRequest;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.model.Errors;
import io.netty.buffer.ByteBuf;
import java.net.ProtocolException;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.TimeUnit;
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
  private static final Set<Integer> RETRIED = Set.of(408, 429, 500, 502, 503, 504);

  private static final String LOCATION = "location";

  private final Exchange exchange;
  private final Inbound inbound;
  private final ChosenTarget choice;
  private final ProxySettings settings;
  private final Tally tally;
  private final ProxyRun run;
  private final ReplyMemory memory;

  /** What was sent; null once no repetition is possible. */
  private @Nullable UpstreamRequest request;

  private @Nullable UpstreamCall call;
  private EventLoop.@Nullable Timer timer;

  /** The request's body; null if it was sent as a whole. */
  private @Nullable StreamedBody streamed;

  private @Nullable ReplyBody body;
  private Headers head = new Headers();
  private int status;
  private boolean forwarding;
  private boolean failed;

  /** Whether a redirection was followed. */
  private boolean followed;

  private boolean paused;
  private boolean over;

  /** When the attempt began. */
  private long sentNs;

  /** When the limit in force began: at the last sign of the side that it is for. */
  private long quietSinceNs;

  /** When the timer runs, if there is one. */
  private long timerNs;

  Relay(
      Exchange exchange,
      Inbound inbound,
      ChosenTarget choice,
      ProxySettings settings,
      Tally tally,
      ReplyMemory memory,
      ProxyRun run) {
    this.exchange = exchange;
    this.inbound = inbound;
    this.choice = choice;
    this.settings = settings;
    this.tally = tally;
    this.run = run;
    this.memory = memory;
  }

  void send() {
    exchange.onWritable(this::onClientWritable);
    UpstreamRequest outbound = Outbound.request(inbound, choice);
    UpstreamCall sent = choice.worker().upstream().send(outbound, this, exchange.loop());
    call = sent;
    UploadStart upload = inbound.upload();
    if (outbound.body() == null && upload != null) {
      streamed = new StreamedBody(exchange, sent, this, upload, settings);
      streamed.start();
    } else {
      request = outbound;
    }
    sentNs = System.nanoTime();
    restartTimer();
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
    if (headers.get(LOCATION) == null || !redirects(headers)) {
      body = body(headers);
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
    WorkerSpec spec = choice.worker().spec();
    UpstreamRequest sent = request;
    String location = headers.get(LOCATION);
    if (location == null || spec.isInProcess()) {
      return false;
    }
    String target = sent == null ? inbound.target() : sent.target();
    Redirect redirect = Redirect.of(location, spec.url(), target, run::isWorker);
    headers.remove(LOCATION);
    String next = redirect.location();
    if (next != null) {
      headers.add(LOCATION, next);
    }
    if (status / 100 != 3 || next == null || !redirect.leadsTo(target)) {
      return false;
    }
    if (sent != null && call != null && !followed && redirect.changesSlash(target)) {
      followed = true;
      call.cancel();
      UpstreamRequest again = sent.withTarget(next);
      request = again;
      call = choice.worker().upstream().send(again, this, exchange.loop());
      restartTimer();
    } else if (streamed != null && redirect.changesSlash(target)) {
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

  private ReplyBody body(Headers headers) {
    boolean served = status == 200 && inbound.endpoint().generates();
    ReplyReader reader =
        new ReplyReader(
            choice,
            tally,
            inbound.endpoint() == Endpoint.RESPONSES ? id -> run.onResponseId(choice, id) : null);
    String type = headers.get("content-type");
    if (served && type != null && type.toLowerCase(Locale.ROOT).startsWith("text/event-stream")) {
      return new EventBody(tally, reader, memory, inbound.injectsUsage());
    }
    if (exchange.replying()) { // with the comments of an earlier attempt
      return new StrayReply(inbound.endpoint(), choice.worker().name(), status, tally);
    }
    return new PlainBody(tally, reader, memory, served);
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
      quietSinceNs = passes && !paused ? nowNs : quietSinceNs;
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
        sendHead(from);
      } else {
        begin(from);
      }
      exchange.write(out);
      if (exchange.full() && !paused && call != null) {
        paused = true;
        call.pause();
        restartTimer();
      }
    }
  }

  /** The budget has no room for what must be kept of the reply: by no fault of the worker. */
  private void onNoRoom() {
    Problem problem = Problem.of(BodyFailure.noRoom());
    cancel();
    if (forwarding) {
      cutReply(problem.message());
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
      request = null;
      run.onBegun();
      sendHead(from);
      restartTimer();
    }
  }

  /** Sends the reply's head, unless comments had to follow it before. */
  private void sendHead(ReplyBody from) {
    if (exchange.replying()) {
      return;
    }
    Headers headers = ForwardedHeaders.reply(head, inbound.id());
    String length = head.get("content-length");
    if (length != null && !from.isStream()) {
      headers.add("content-length", length);
    }
    if (inbound.explain()) {
      Explanation.add(headers, head, choice, tally.dpRank());
    }
    exchange.head(status, headers);
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
    UpstreamRequest again = request;
    if (failure.kind() == Kind.STALE_CONNECTION && again != null && run.repeats()) {
      request = null;
      tally.onRepeated();
      call = choice.worker().upstream().send(again.onNewConnection(), this, exchange.loop());
      return;
    }
    cancel();
    if (forwarding) {
      if (body != null && body.isStream() && !failed) {
        tally.onStreamError();
      }
      cutReply("worker " + choice.worker().name() + " failed: " + failure.message());
      run.onFailedLater(failure, status);
    } else {
      run.onFailedUnseen(choice, failure);
    }
  }

  private void cutReply(String message) {
    if (body != null && body.isStream()) {
      Problem problem = Problem.of(502, "upstream_error", message);
      exchange.write(Replies.errorEvent(inbound.endpoint(), problem));
    }
    exchange.abort();
  }

  // ---- the client, and time -------------------------------------------------------------------

  @Override
  public void onWritable() {
    if (!over && streamed != null) {
      streamed.onWritable();
    }
  }

  /** Restarts the time limit of the request's body. */
  void onBodyMoved() {
    if (!forwarding) {
      restartTimer();
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
    return streamed != null;
  }

  private boolean waitsForBody() {
    return !forwarding && streamed != null && streamed.waitsForClient();
  }

  private void onClientWritable() {
    if (paused && !over && call != null) {
      paused = false;
      call.resume();
      restartTimer();
    }
  }

  private long limitMs() {
    if (paused) {
      return settings.clientTimeoutMs();
    }
    if (forwarding) {
      return settings.idleTimeoutMs();
    }
    return waitsForBody() ? settings.bodyTimeoutMs() : settings.firstByteTimeoutMs();
  }

  /** Starts the time limit that applies now. A timer that runs earlier than needed stays. */
  private void restartTimer() {
    if (!over) {
      quietSinceNs = System.nanoTime();
      long leftMs = leftMs();
      if (timer == null || quietSinceNs + TimeUnit.MILLISECONDS.toNanos(leftMs) - timerNs < 0) {
        startTimer(leftMs);
      }
    }
  }

  /** Time until a limit has passed; 0 or less once it has. */
  private long leftMs() {
    return Math.min(limitMs() - msSince(quietSinceNs), leftForDataMs());
  }

  /** Time until the first data is late, whatever comments arrive; a streamed body has no limit. */
  private long leftForDataMs() {
    boolean waits = !forwarding && !paused && streamed == null;
    return waits ? settings.firstTokenTimeoutMs() - msSince(sentNs) : Long.MAX_VALUE;
  }

  private static long msSince(long beganNs) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNs);
  }

  private void startTimer(long delayMs) {
    stopTimer();
    timerNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMs);
    timer = exchange.loop().after(Math.max(1, delayMs), this::onTimer);
  }

  /** Runs when a limit may have passed; runs again later while it has not. */
  private void onTimer() {
    long leftMs = leftMs();
    if (leftMs > 0) {
      startTimer(leftMs);
    } else if (paused) {
      cancel();
      exchange.abort();
      run.onClientStuck();
    } else if (waitsForBody()) {
      onBodyFailed(Problem.of(BodyFailure.timeout(limitMs())));
    } else {
      String late =
          leftForDataMs() > 0
              ? "nothing arrived for " + limitMs()
              : "no data arrived for " + settings.firstTokenTimeoutMs();
      onAbort(new UpstreamFailure(Kind.TIMEOUT, late + " milliseconds"));
    }
  }

  private void stopTimer() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  /** Stops the attempt. The client's reply stays as it is. */
  void cancel() {
    if (!over) {
      finish();
      if (call != null) {
        call.cancel();
      }
    }
  }

  private void finish() {
    over = true;
    stopTimer();
    memory.release();
    if (streamed != null) {
      streamed.stop();
    }
  }

  /** Whether something of the reply was forwarded, comments before its data aside. */
  boolean forwarding() {
    return forwarding;
  }

  /** Ends a reply that has begun, because the gateway stops. */
  void cut() {
    cancel();
    cutReply("the gateway is shutting down");
  }
}
