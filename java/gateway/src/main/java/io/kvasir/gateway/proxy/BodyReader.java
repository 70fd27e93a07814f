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
 * limit. What has arrived counts against the budget until {@link #release}; what is only announced
 * costs nothing.
 *
 * <p>Confined to the exchange's event loop.
 */
final class BodyReader implements BodyListener {

  private static final int FIRST_BYTES = 4 << 10;

  /** Limits of bodies, shared by all requests. */
  record Limits(long maxBytes, long timeoutMs, BodyBudget budget) {}

  private final Exchange exchange;
  private final Limits limits;
  private final Consumer<byte[]> onRead;
  private final Consumer<Problem> onProblem;
  private final BodyHold hold;

  private byte[] bytes = {};
  private int length;

  /** The body's size as announced, or else the cap. */
  private long most;

  private boolean over;
  private EventLoop.@Nullable Timer timer;

  BodyReader(
      Exchange exchange, Limits limits, Consumer<byte[]> onRead, Consumer<Problem> onProblem) {
    this.exchange = exchange;
    this.limits = limits;
    this.onRead = onRead;
    this.onProblem = onProblem;
    this.hold = limits.budget().open(exchange.client());
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
    } else {
      most = declared == null ? limits.maxBytes() : expected;
      timer = exchange.loop().after(limits.timeoutMs(), this::onTimeout);
      exchange.read(this);
    }
  }

  private Problem tooLarge() {
    return Problem.of(
        413, "body_too_large", "the body must not exceed " + limits.maxBytes() + " bytes");
  }

  /** Moves what has arrived to an array of another size. */
  private boolean resize(int size) {
    int more = size - bytes.length;
    if (more > 0 && !hold.take(more)) {
      fail(hold.refusal(more));
      return false;
    }
    bytes = Arrays.copyOf(bytes, size);
    hold.give(Math.max(0, -more));
    return true;
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
        long room = Math.max(FIRST_BYTES, bytes.length * 2L);
        if (!resize((int) Math.max(needed, Math.min(most, room)))) {
          return;
        }
      }
      part.readBytes(bytes, length, count);
      length = needed;
    } finally {
      part.release();
    }
  }

  @Override
  public void onBodyEnd() {
    if (!over && (bytes.length == length || resize(length))) {
      stop();
      byte[] body = bytes;
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

  /** What the request holds of the budget. */
  BodyHold hold() {
    return hold;
  }

  /** Returns what the request holds to the budget. Repeated calls have no effect. */
  void release() {
    hold.release();
    bytes = new byte[0];
  }
}
