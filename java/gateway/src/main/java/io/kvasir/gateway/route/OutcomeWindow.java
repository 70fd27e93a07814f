package io.kvasir.gateway.route;

/**
 * Outcomes of the last seconds, and how much of them failed, in half failures. Old outcomes leave
 * by a tenth of the window at a time.
 *
 * <p>Not thread-safe; every call is O(1).
 */
final class OutcomeWindow {

  private static final int PARTS = 10;

  private final long partNs;
  private final long[] numbers = new long[PARTS];
  private final long[] outcomes = new long[PARTS];
  private final long[] halves = new long[PARTS];

  OutcomeWindow(long windowNs) {
    this.partNs = Math.max(1, windowNs / PARTS);
  }

  /** Adds an outcome; {@code failedHalves} is 0 for a success, 1 or 2 for a failure. */
  void add(int failedHalves, long nowNs) {
    int part = part(nowNs);
    outcomes[part]++;
    halves[part] += failedHalves;
  }

  /** Takes an outcome out that was added at a time, if it can still be in the window. */
  void remove(int failedHalves, long addedNs) {
    long number = Math.floorDiv(addedNs, partNs);
    int part = Math.floorMod(number, PARTS);
    if (numbers[part] == number && outcomes[part] > 0 && halves[part] >= failedHalves) {
      outcomes[part]--;
      halves[part] -= failedHalves;
    }
  }

  /** The outcomes of the window. */
  long outcomes(long nowNs) {
    return sum(outcomes, nowNs);
  }

  /** The failures of the window, in halves. */
  long failedHalves(long nowNs) {
    return sum(halves, nowNs);
  }

  void clear() {
    for (int part = 0; part < PARTS; part++) {
      outcomes[part] = 0;
      halves[part] = 0;
    }
  }

  private long sum(long[] values, long nowNs) {
    long current = Math.floorDiv(nowNs, partNs);
    long sum = 0;
    for (int part = 0; part < PARTS; part++) {
      long age = current - numbers[part];
      if (age >= 0 && age < PARTS) {
        sum += values[part];
      }
    }
    return sum;
  }

  private int part(long nowNs) {
    long number = Math.floorDiv(nowNs, partNs);
    int part = Math.floorMod(number, PARTS);
    if (numbers[part] != number) {
      numbers[part] = number;
      outcomes[part] = 0;
      halves[part] = 0;
    }
    return part;
  }
}
