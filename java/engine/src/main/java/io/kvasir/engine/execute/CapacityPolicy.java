package io.kvasir.engine.execute;

import java.util.Locale;

/** How a rank shares its blocks among its requests. */
public enum CapacityPolicy {
  /**
   * A request starts only when the blocks for its whole output can be promised to it. Nothing is
   * ever paused.
   */
  GUARANTEED_NO_EVICT,
  /**
   * A request starts when the blocks of its next step are there. When a running one finds none, the
   * last started are paused and computed again later.
   */
  MAX_UTILIZATION;

  /**
   * The policy's name in options and files.
   *
   * @return for example {@code guaranteed_no_evict}
   */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
