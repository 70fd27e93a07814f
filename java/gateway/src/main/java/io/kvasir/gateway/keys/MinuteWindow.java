package io.kvasir.gateway.keys;

/**
 * What was used in the last 60 s, in slots of half a second.
 *
 * <p>An amount counts for at least 60 s and for less than 60.5 s, so that a limit holds in every
 * span of 60 s, wherever it begins. A bucket that fills in a minute would let twice the limit pass
 * in its first one.
 *
 * <p>Not thread-safe. Calls are O(slots) at most.
 */
final class MinuteWindow {

  static final long SLOT_NS = 500_000_000L;

  /** Those of a minute, and the one that has begun. */
  private static final int SLOTS = 121;

  private final long startNs;
  private final long[] used = new long[SLOTS];

  /** Number of the slot of now, from the start. */
  private long current;

  private long sum;

  /** Begins with nothing. */
  MinuteWindow(long nowNs) {
    this.startNs = nowNs;
  }

  /** Moves to a time. */
  private void advance(long nowNs) {
    long slot = Math.max(current, (nowNs - startNs) / SLOT_NS);
    for (long next = Math.max(current + 1, slot - SLOTS + 1); next <= slot; next++) {
      sum -= used[index(next)];
      used[index(next)] = 0;
    }
    current = slot;
  }

  private static int index(long slot) {
    return (int) (slot % SLOTS);
  }

  /** What counts at a time. */
  long used(long nowNs) {
    advance(nowNs);
    return sum;
  }

  /**
   * Uses an amount.
   *
   * @return the slot that has it
   */
  long add(long nowNs, long amount) {
    advance(nowNs);
    used[index(current)] += amount;
    sum += amount;
    return current;
  }

  /** Removes a part of an amount, unless it has left the window. */
  void remove(long nowNs, long slot, long amount) {
    advance(nowNs);
    if (slot > current - SLOTS) {
      long back = Math.min(amount, used[index(slot)]);
      used[index(slot)] -= back;
      sum -= back;
    }
  }

  /**
   * Time until at most an amount counts, if nothing is added.
   *
   * @param left the amount, at least 0
   */
  long waitNs(long nowNs, long left) {
    advance(nowNs);
    long rest = sum;
    long slot = Math.max(0, current - SLOTS + 1) - 1;
    while (rest > left) {
      slot++;
      rest -= used[index(slot)];
    }
    return rest == sum ? 0 : Math.max(0, leavesNs(slot) - nowNs);
  }

  /** When a slot has left the window. */
  private long leavesNs(long slot) {
    return startNs + (slot + SLOTS) * SLOT_NS;
  }
}
