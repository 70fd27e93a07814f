package io.kvasir.gateway.legs;

import java.util.concurrent.atomic.AtomicInteger;

/** The next faults of the servers of one role. Thread-safe. */
public final class Faults {

  private volatile Kind kind = Kind.CLOSE;
  private final AtomicInteger left = new AtomicInteger();

  /** What a server does in place of its work. */
  public enum Kind {
    /** It answers {@code {}}. */
    EMPTY,
    /** It answers without ids. */
    NULL_IDS,
    /** It answers with two choices. */
    TWO_CHOICES,
    /** It closes the connection before the first byte of an answer. */
    CLOSE
  }

  /** No faults. */
  public Faults() {}

  /**
   * Lets the next requests fail.
   *
   * @param next how
   * @param times how many
   */
  public void arm(Kind next, int times) {
    kind = next;
    left.set(times);
  }

  /** The fault of this request, or null. */
  Kind next() {
    return left.getAndUpdate(n -> Math.max(0, n - 1)) > 0 ? kind : null;
  }

  /**
   * Counts faults that have not happened.
   *
   * @return how many
   */
  public int left() {
    return left.get();
  }
}
