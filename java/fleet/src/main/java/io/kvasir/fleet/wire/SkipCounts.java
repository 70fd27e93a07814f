package io.kvasir.fleet.wire;

import java.util.EnumMap;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** How often each {@link SkipCause} occurred. Thread-safe. */
public final class SkipCounts {

  /** Has every cause. */
  private final EnumMap<SkipCause, LongAdder> byCause = new EnumMap<>(SkipCause.class);

  SkipCounts() {
    for (SkipCause cause : SkipCause.values()) {
      byCause.put(cause, new LongAdder());
    }
  }

  void add(SkipCause cause) {
    counter(cause).increment();
  }

  /**
   * The count of one cause.
   *
   * @param cause the cause
   * @return how often it occurred, at least 0
   */
  public long of(SkipCause cause) {
    return counter(cause).sum();
  }

  private LongAdder counter(SkipCause cause) {
    return Objects.requireNonNull(byCause.get(cause));
  }
}
