package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyFailure;
import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.BodyListener;
import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.Exchange;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The beginning of a body that is streamed. A request takes a place in service, and a connection to
 * an engine, only when {@value #FIRST_BYTES} bytes or all of its body are here. What waits counts
 * against the budget. A body that looks like JSON is refused, because no such body passes unread.
 *
 * <p>Confined to the exchange's event loop.
 */
final class UploadStart implements BodyListener {

  /** Bytes with which a request starts. */
  static final int FIRST_BYTES = 64 << 10;

  private static final int MAX_PARTS = 64;

  private final Exchange exchange;
  private final BodyHold hold;
  private final long timeoutMs;
  private final Consumer<UploadStart> onReady;
  private final Consumer<Problem> onProblem;
  private final CompositeByteBuf first = Unpooled.compositeBuffer(MAX_PARTS);

  private EventLoop.@Nullable Timer timer;

  /** Bytes that count against the budget. */
  private long counted;

  private boolean ready;
  private boolean complete;
  private boolean over;

  /**
   * Begins without bytes.
   *
   * @param hold what the request holds of the budget
   * @param timeoutMs limit for the beginning of the body
   * @param onReady receives this once
   * @param onProblem receives why the request is refused instead
   */
  UploadStart(
      Exchange exchange,
      BodyHold hold,
      long timeoutMs,
      Consumer<UploadStart> onReady,
      Consumer<Problem> onProblem) {
    this.exchange = exchange;
    this.hold = hold;
    this.timeoutMs = timeoutMs;
    this.onReady = onReady;
    this.onProblem = onProblem;
  }

  void start() {
    timer =
        exchange.loop().after(timeoutMs, () -> fail(Problem.of(BodyFailure.timeout(timeoutMs))));
    exchange.read(this);
  }

  @Override
  public void onBody(ByteBuf bytes) {
    if (over) {
      bytes.release();
      return;
    }
    int count = bytes.readableBytes();
    if (hold.take(count)) {
      counted += count;
    } else if (!ready) {
      bytes.release();
      fail(Problem.of(hold.refusal(count)));
      return;
    }
    first.addComponent(true, bytes);
    if (first.readableBytes() >= FIRST_BYTES) {
      begin();
    }
  }

  @Override
  public void onBodyEnd() {
    complete = true;
    onComplete();
    if (!over) {
      begin();
    }
  }

  private void begin() {
    if (!ready) {
      ready = true;
      stopTimer();
      if (!complete) {
        exchange.pauseBody();
      }
      if (BodyKinds.looksLikeJson(first)) {
        fail(
            Problem.of(
                415,
                "unsupported_media_type",
                "the body looks like JSON: its content-type must be application/json"));
      } else if (!complete && !hold.takeUpload()) {
        fail(
            Problem.overloaded(
                429, "client_uploads", "the client has as many uploads in service as it may", 1));
      } else {
        onReady.accept(this);
      }
    }
  }

  @Override
  public void onBodyInvalid() {
    if (!ready) {
      fail(Problem.of(BodyFailure.invalidHttp()));
    }
  }

  private void fail(Problem problem) {
    stop();
    onProblem.accept(problem);
  }

  /** Drops what has arrived; no action runs any more. Repeated calls have no effect. */
  void stop() {
    stopTimer();
    if (!over) {
      over = true;
      first.release();
      hold.release();
    }
  }

  private void stopTimer() {
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  /** {@return what has arrived; the caller releases it, and it counts no more} */
  ByteBuf take() {
    ByteBuf taken = first.retainedDuplicate();
    hold.give(counted);
    over = true;
    first.release();
    return taken;
  }

  /** Whether all of the body has arrived. */
  boolean complete() {
    return complete;
  }

  /** The rest of the body has arrived. */
  void onComplete() {
    hold.endUpload();
  }
}
