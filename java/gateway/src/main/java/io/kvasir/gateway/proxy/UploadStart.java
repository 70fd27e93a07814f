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
 * an engine, only when {@value #FIRST_BYTES} bytes or all of its body are here, and of a form the
 * field that names the model if nothing else decides which workers serve the request. Waiting bytes
 * count against the budget. A body that looks like JSON is refused, because no such body passes
 * unread.
 *
 * <p>Confined to the exchange's event loop.
 */
final class UploadStart implements BodyListener {

  /** Bytes with which a request starts. */
  static final int FIRST_BYTES = 64 << 10;

  /** Bytes of a form within which the model of a file is sought. */
  static final int FILE_BYTES = 1 << 20;

  /** Parts are not copied together below this number; a form can have to wait with all of them. */
  private static final int MAX_PARTS = 1 << 16;

  /** What a part takes besides its bytes, at most; it counts from this number of parts on. */
  private static final int PART_BYTES = 256;

  private static final int FREE_PARTS = 64;

  private final Exchange exchange;
  private final BodyHold hold;
  private final ProxySettings settings;
  private final @Nullable FormModel model;
  private final long startsWithout;
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
   * @param settings limits
   * @param model the field of a form that names the model; null if the body is no form
   * @param startsWithout bytes with which a form starts before its model is known; above the most
   *     bytes of a body if it cannot
   * @param onReady receives this once
   * @param onProblem receives why the request is refused instead
   */
  UploadStart(
      Exchange exchange,
      BodyHold hold,
      ProxySettings settings,
      @Nullable FormModel model,
      long startsWithout,
      Consumer<UploadStart> onReady,
      Consumer<Problem> onProblem) {
    this.exchange = exchange;
    this.hold = hold;
    this.settings = settings;
    this.model = model;
    this.startsWithout = startsWithout;
    this.onReady = onReady;
    this.onProblem = onProblem;
  }

  void start() {
    long timeoutMs = settings.bodyTimeoutMs();
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
    int count = bytes.readableBytes() + (first.numComponents() < FREE_PARTS ? 0 : PART_BYTES);
    if (hold.take(count)) {
      counted += count;
    } else if (!ready) {
      bytes.release();
      fail(Problem.of(hold.refusal(count)));
      return;
    }
    if (model != null) {
      model.feed(bytes);
    }
    first.addComponent(true, bytes);
    long starts = model == null || model.isKnown() ? FIRST_BYTES : startsWithout;
    if (first.readableBytes() >= starts || (model != null && model.problem() != null)) {
      begin();
    } else if (!ready && first.readableBytes() > settings.maxBodyBytes()) {
      fail(formTooLarge());
    }
  }

  private Problem formTooLarge() {
    return Problem.of(
        413,
        "body_too_large",
        "a form must name its model within its first " + settings.maxBodyBytes() + " bytes");
  }

  /** The model that a form names; null if the body is no form. */
  @Nullable FormModel model() {
    return model;
  }

  @Override
  public void onBodyEnd() {
    complete = true;
    if (model != null) {
      model.end();
    }
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
      Problem wrong = FormModel.problem(first, model);
      if (wrong != null) {
        fail(wrong);
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
