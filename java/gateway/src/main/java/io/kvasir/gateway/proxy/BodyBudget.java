package io.kvasir.gateway.proxy;

import java.util.concurrent.atomic.AtomicLong;

/** Bounds the bytes of request bodies that the process holds. Thread-safe. */
public final class BodyBudget {

  private final long maxBytes;
  private final AtomicLong used = new AtomicLong();

  /**
   * Creates an unused budget.
   *
   * @param maxBytes bytes of all bodies together, at least 1
   */
  public BodyBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Takes bytes.
   *
   * @param bytes how many, at least 0
   * @return false if there are not as many left; nothing is taken then
   */
  public boolean take(long bytes) {
    long before = used.get();
    while (before + bytes <= maxBytes) {
      if (used.compareAndSet(before, before + bytes)) {
        return true;
      }
      before = used.get();
    }
    return false;
  }

  /**
   * Returns bytes.
   *
   * @param bytes how many of those taken
   */
  public void release(long bytes) {
    used.addAndGet(-bytes);
  }

  /** {@return bytes in use} */
  public long used() {
    return used.get();
  }
}
