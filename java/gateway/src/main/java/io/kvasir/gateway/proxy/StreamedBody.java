package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyFailure;
import io.kvasir.exchange.BodyListener;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.UpstreamCall;
import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Passes a request's body on to a worker as it arrives, at the worker's pace, as long as the client
 * keeps to its own.
 *
 * <p>Confined to the exchange's event loop.
 */
final class StreamedBody implements BodyListener {

  private static final int MIN_CHECK_MS = 50;

  private final Exchange exchange;
  private final UpstreamCall call;
  private final Relay relay;
  private final UploadStart upload;
  private final @Nullable FormModel form;
  private final UploadPace pace;
  private EventLoop.@Nullable Timer timer;
  private boolean waitsForWorker;
  private boolean complete;

  /**
   * Begins with nothing.
   *
   * @param exchange the client's side
   * @param call the worker's side
   * @param relay receives what becomes of the body
   * @param upload the beginning of the body
   * @param settings limits
   */
  StreamedBody(
      Exchange exchange,
      UpstreamCall call,
      Relay relay,
      UploadStart upload,
      ProxySettings settings) {
    this.exchange = exchange;
    this.call = call;
    this.relay = relay;
    this.upload = upload;
    this.form = upload.model();
    this.pace =
        new UploadPace(
            settings.bodyTimeoutMs(),
            settings.clients().uploadTimeoutMs(),
            settings.clients().minUploadRate(),
            System.nanoTime());
  }

  /** Sends what has arrived, and reads on. */
  void start() {
    if (isRefused()) { // by what came while the request waited
      return;
    }
    boolean whole = upload.complete();
    pass(upload.take());
    if (whole) {
      finish();
    } else {
      exchange.read(this);
      if (waitsForWorker) {
        exchange.pauseBody();
      }
      planCheck();
    }
  }

  @Override
  public void onBody(ByteBuf bytes) {
    if (form != null) {
      form.feed(bytes);
      if (isRefused()) {
        bytes.release();
        return;
      }
    }
    pass(bytes);
  }

  /** Whether a form must not reach the worker as a whole, which has nothing of its end. */
  private boolean isRefused() {
    Problem wrong = form == null ? null : form.problem();
    if (wrong != null) {
      relay.onBodyFailed(wrong);
    }
    return wrong != null;
  }

  private void pass(ByteBuf bytes) {
    pace.onBytes(bytes.readableBytes());
    if (!bytes.isReadable()) {
      bytes.release();
    } else if (!call.write(bytes)) {
      waitsForWorker = true;
      pace.pause(System.nanoTime());
      exchange.pauseBody();
    }
    relay.onBodyMoved();
  }

  /** The worker can take more. */
  void onWritable() {
    waitsForWorker = false;
    pace.resume(System.nanoTime());
    if (!complete) {
      exchange.resumeBody();
    }
    relay.onBodyMoved();
  }

  @Override
  public void onBodyEnd() {
    if (form != null) {
      form.end();
      if (isRefused()) {
        return;
      }
    }
    finish();
  }

  private void finish() {
    complete = true;
    stop();
    upload.onComplete();
    call.finish();
    relay.onBodyMoved();
  }

  @Override
  public void onBodyInvalid() {
    relay.onBodyFailed(Problem.of(BodyFailure.invalidHttp()));
  }

  private void planCheck() {
    long leftMs = pace.leftMs(System.nanoTime());
    timer = exchange.loop().after(Math.max(MIN_CHECK_MS, leftMs), this::check);
  }

  private void check() {
    timer = null;
    if (pace.leftMs(System.nanoTime()) <= 0 && !waitsForWorker) {
      relay.onBodyFailed(Problem.bodyTooSlow());
    } else {
      planCheck();
    }
  }

  /** Checks the client's pace no more. */
  void stop() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  /** Whether the next part must come from the client. */
  boolean waitsForClient() {
    return !complete && !waitsForWorker;
  }
}
