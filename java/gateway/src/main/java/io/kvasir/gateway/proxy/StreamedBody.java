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
    this.pace =
        new UploadPace(
            settings.bodyTimeoutMs(),
            settings.clients().uploadTimeoutMs(),
            settings.clients().minUploadRate(),
            System.nanoTime());
  }

  /** Sends what has arrived, and reads on. */
  void start() {
    boolean whole = upload.complete();
    onBody(upload.take());
    if (whole) {
      onBodyEnd();
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
