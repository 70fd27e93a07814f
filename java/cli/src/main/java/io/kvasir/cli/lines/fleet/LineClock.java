package io.kvasir.cli.lines.fleet;

import io.kvasir.cli.lines.Fields;
import java.util.function.LongSupplier;

/**
 * The clock of a router that lines drive. It is the system's clock until an operation sets {@code
 * nowMs}. From then on, it only moves when an operation sets {@code nowMs}. It never goes back. Not
 * thread-safe.
 */
public final class LineClock implements LongSupplier {

  /** The field that sets the time. */
  public static final String NOW_MS = "nowMs";

  private static final long UNSET = -1;
  private static final long MAX_MS = 1L << 42;
  private static final long NS_PER_MS = 1_000_000;

  private long originNs;
  private long firstMs = UNSET;
  private long lastMs = UNSET;

  /** Makes a clock that shows the system's time. */
  public LineClock() {}

  /**
   * Reads and checks {@code nowMs}. The time does not change yet.
   *
   * @param fields the operation
   * @return the value for {@link #set}
   */
  public long read(Fields fields) {
    return fields.longInteger(NOW_MS, Math.max(0, lastMs), MAX_MS, UNSET);
  }

  /**
   * Sets the time.
   *
   * @param nowMs the value that {@link #read} returned
   */
  public void set(long nowMs) {
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
