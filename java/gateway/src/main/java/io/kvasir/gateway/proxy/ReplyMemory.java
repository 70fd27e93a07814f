package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyBudget;
import io.kvasir.exchange.BodyHold;
import org.jspecify.annotations.Nullable;

/**
 * What the gateway keeps of one reply: more than {@value #FREE_BYTES} bytes count against the
 * budget of bodies, until the reply is over.
 *
 * <p>Confined to the exchange's event loop.
 */
final class ReplyMemory {

  /** Bytes that do not count: as much may wait in any connection. */
  static final int FREE_BYTES = 64 << 10;

  private final BodyBudget budget;
  private final String client;
  private @Nullable BodyHold hold;
  private long counted;

  /**
   * Begins with nothing.
   *
   * @param client the client's address
   */
  ReplyMemory(BodyBudget budget, String client) {
    this.budget = budget;
    this.client = client;
  }

  /**
   * Counts the bytes kept now, if they are more than ever before; they can wait for a slow client.
   *
   * @param bytes all that is kept of the reply
   * @return false if the budget has no room
   */
  boolean holds(long bytes) {
    long more = bytes - FREE_BYTES - counted;
    if (more <= 0) {
      return true;
    }
    if (!opened().take(more)) {
      return false;
    }
    counted += more;
    return true;
  }

  private BodyHold opened() {
    BodyHold open = hold == null ? budget.open(client) : hold;
    hold = open;
    return open;
  }

  /**
   * Counts all of some bytes that stay until the reply is over, besides those of {@link #holds}.
   *
   * @return false if the budget has no room
   */
  boolean keep(long bytes) {
    return opened().take(bytes);
  }

  /** What counts; null if nothing does. */
  @Nullable BodyHold hold() {
    return hold;
  }

  /** The reply is over. Repeated calls have no effect. */
  void release() {
    if (hold != null) {
      hold.release();
    }
  }
}
