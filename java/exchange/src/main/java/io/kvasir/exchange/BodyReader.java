package io.kvasir.exchange;

import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads the body of one request into memory, within a cap, the budget of the process, and a time
 * limit. Bytes that have arrived count against the budget until {@link #release}; announced bytes
 * do not count.
 *
 * <p>Confined to the exchange's event loop.
 */
public final class BodyReader implements BodyListener {

  private static final int FIRST_BYTES = 4 << 10;

  /**
   * Limits of bodies, shared by all requests.
   *
   * @param maxBytes largest body
   * @param timeoutMs limit for the arrival of a body, in milliseconds
   * @param budget bounds the bytes of all bodies
   */
  public record Limits(long maxBytes, long timeoutMs, BodyBudget budget) {}

  /** Receives the body. One of its methods is called, once, unless reading is stopped. */
  public interface Receiver {

    /**
     * The body is complete.
     *
     * @param body the body
     * @param hold what the request holds of the budget
     */
    void onRead(byte[] body, BodyHold hold);

    /**
     * The body is refused; the request holds nothing any more.
     *
     * @param failure why
     */
    void onFailed(BodyFailure failure);
  }

  private final Exchange exchange;
  private final Limits limits;
  private final Receiver receiver;
  private final BodyHold hold;

  private byte[] bytes = {};
  private int length;

  /** The body's size as announced, or else the cap. */
  private long most;

  private boolean over;
  private EventLoop.@Nullable Timer timer;

  /**
   * Begins without a body.
   *
   * @param exchange the request
   * @param limits those of its body
   * @param receiver what becomes of the body
   */
  public BodyReader(Exchange exchange, Limits limits, Receiver receiver) {
    this.exchange = exchange;
    this.limits = limits;
    this.receiver = receiver;
    this.hold = limits.budget().open(exchange.client());
  }

  /** Begins to read. */
  public void start() {
    String declared = exchange.headers().get("content-length");
    long expected = 0;
    if (declared != null) {
      try {
        expected = Long.parseLong(declared.strip());
      } catch (NumberFormatException e) {
        expected = -1;
      }
      if (expected < 0) {
        fail(BodyFailure.invalidLength());
        return;
      }
    }
    if (expected > limits.maxBytes()) {
      fail(BodyFailure.tooLarge(limits.maxBytes()));
    } else {
      most = declared == null ? limits.maxBytes() : expected;
      timer = exchange.loop().after(limits.timeoutMs(), this::onTimeout);
      exchange.read(this);
    }
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
        fail(BodyFailure.tooLarge(limits.maxBytes()));
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
      receiver.onRead(body, hold);
    }
  }

  @Override
  public void onBodyInvalid() {
    if (!over) {
      fail(BodyFailure.invalidHttp());
    }
  }

  private void onTimeout() {
    fail(BodyFailure.timeout(limits.timeoutMs()));
  }

  private void fail(BodyFailure failure) {
    stop();
    release();
    receiver.onFailed(failure);
  }

  /** Stops reading; the receiver is not called any more. */
  public void stop() {
    over = true;
    if (timer != null) {
      timer.cancel();
      timer = null;
    }
  }

  /** {@return what the request holds of the budget} */
  public BodyHold hold() {
    return hold;
  }

  /** Returns what the request holds to the budget. Repeated calls have no effect. */
  public void release() {
    hold.release();
    bytes = new byte[0];
  }
}
