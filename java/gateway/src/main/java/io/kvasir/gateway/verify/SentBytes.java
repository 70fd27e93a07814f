package io.kvasir.gateway.verify;

import java.util.concurrent.atomic.AtomicLong;

/** Bounds what all workers together keep of the prompts that were sent to them. Thread-safe. */
public final class SentBytes {

  private final long maxBytes;
  private final AtomicLong used = new AtomicLong();

  /**
   * Begins with nothing in use.
   *
   * @param maxBytes the bound, at least 0
   */
  public SentBytes(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Takes bytes; false if there is no room. */
  boolean take(long bytes) {
    if (used.addAndGet(bytes) <= maxBytes) {
      return true;
    }
    used.addAndGet(-bytes);
    return false;
  }

  void giveBack(long bytes) {
    used.addAndGet(-bytes);
  }

  /** {@return the bytes in use} */
  public long used() {
    return used.get();
  }
}
