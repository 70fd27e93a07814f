package io.kvasir.gateway.proxy;

import io.kvasir.gateway.exchange.BodyListener;
import io.kvasir.gateway.exchange.EventLoop;
import io.kvasir.gateway.exchange.Exchange;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of one request into memory, within a cap, the budget of the process, and a time
 * limit. The whole body counts against the budget until {@link #release}.
 *
 * <p>Confined to the exchange's event loop.
 */
final class BodyReader implements BodyListener {

  private static final int FIRST_BYTES = 4 << 10;
  private static final int BUDGET_RETRY_SECONDS = 1;

  /** Limits of bodies, shared by all requests. */
  record Limits(long maxBytes, long timeoutMs, BodyBudget budget) {}

  private final Exchange exchange;
  private final Limits limits;
  private final Consumer<byte[]> onRead;
  private final Consumer<Problem> onProblem;

  private byte[] bytes = {};
  private int length;
  private long reserved;
  private boolean over;
  private EventLoop.@Nullable Timer timer;

  BodyReader(
      Exchange exchange, Limits limits, Consumer<byte[]> onRead, Consumer<Problem> onProblem) {
    this.exchange = exchange;
    this.limits = limits;
    this.onRead = onRead;
    this.onProblem = onProblem;
  }

  void start() {
    String declared = exchange.headers().get("content-length");
    long expected = 0;
    if (declared != null) {
      try {
        expected = Long.parseLong(declared.strip());
      } catch (NumberFormatException e) {
        expected = -1;
      }
      if (expected < 0) {
        fail(Problem.invalid(null, "content-length must be a number of bytes"));
        return;
      }
    }
    if (expected > limits.maxBytes()) {
      fail(tooLarge());
    } else if (reserve(declared == null ? FIRST_BYTES : expected)) {
      bytes = new byte[(int) (declared == null ? FIRST_BYTES : expected)];
      timer = exchange.loop().after(limits.timeoutMs(), this::onTimeout);
      exchange.read(this);
    }
  }

  private Problem tooLarge() {
    return Problem.of(
        413, "body_too_large", "the body must not exceed " + limits.maxBytes() + " bytes");
  }

  private boolean reserve(long more) {
    if (limits.budget().take(more)) {
      reserved += more;
      return true;
    }
    fail(
        Problem.overloaded(
            503,
            "body_budget_exhausted",
            "the gateway holds as many bytes of requests as it may",
            BUDGET_RETRY_SECONDS));
    return false;
  }

  @Override
  public void onBody(ByteBuf part) {
    try {
      int count = part.readableBytes();
      if (over) {
        return;
      }
      if (length + (long) count > limits.maxBytes()) {
        fail(tooLarge());
        return;
      }
      int needed = length + count;
      if (needed > bytes.length) {
        int grown = (int) Math.min(limits.maxBytes(), Math.max(needed, bytes.length * 2L));
        if (!reserve(grown - (long) bytes.length)) {
          return;
        }
        bytes = Arrays.copyOf(bytes, grown);
      }
      part.readBytes(bytes, length, count);
      length = needed;
    } finally {
      part.release();
    }
  }

  @Override
  public void onBodyEnd() {
    if (!over) {
      stop();
      byte[] body = bytes.length == length ? bytes : Arrays.copyOf(bytes, length);
      bytes = new byte[0];
      onRead.accept(body);
    }
  }

  @Override
  public void onBodyInvalid() {
    if (!over) {
      fail(Problem.invalidHttpBody());
    }
  }

  private void onTimeout() {
    fail(Problem.bodyTimeout(limits.timeoutMs()));
  }

  private void fail(Problem problem) {
    stop();
    release();
    onProblem.accept(problem);
  }

  /** Stops reading; neither action runs any more. */
  void stop() {
    over = true;
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  /** Whether reading has ended, in whatever way. */
  boolean isOver() {
    return over;
  }

  /** Returns the body's bytes to the budget. Repeated calls have no effect. */
  void release() {
    limits.budget().release(reserved);
    reserved = 0;
    bytes = new byte[0];
  }
}
