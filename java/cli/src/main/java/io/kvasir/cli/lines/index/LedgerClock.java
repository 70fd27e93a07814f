package io.kvasir.cli.lines.index;

import io.kvasir.cli.lines.Fields;
import java.util.function.LongSupplier;

/**
 * The clock of a ledger. It is the system's clock until an operation sets {@code nowMs}. From then
 * on, it only moves when an operation sets {@code nowMs}. It never goes back. Not thread-safe.
 */
final class LedgerClock implements LongSupplier {

  /** The field that sets the time. */
  static final String NOW_MS = "nowMs";

  private static final long UNSET = -1;
  private static final long MAX_MS = 1L << 42;
  private static final long NS_PER_MS = 1_000_000;

  private long originNs;
  private long firstMs = UNSET;
  private long lastMs = UNSET;

  /** Reads and checks {@code nowMs}. The time does not change yet. */
  long read(Fields fields) {
    return fields.longInteger(NOW_MS, Math.max(0, lastMs), MAX_MS, UNSET);
  }

  /** Sets the time to the value that {@link #read} returned. */
  void set(long nowMs) {
    if (nowMs == UNSET) {
      return;
    }
    if (firstMs == UNSET) {
      originNs = System.nanoTime();
      firstMs = nowMs;
    }
    lastMs = nowMs;
  }

  @Override
  public long getAsLong() {
    return firstMs == UNSET ? System.nanoTime() : originNs + (lastMs - firstMs) * NS_PER_MS;
  }
}
