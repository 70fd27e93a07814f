package io.kvasir.engine.execute;

import java.util.Locale;

/** How a rank shares its blocks among its requests. */
public enum CapacityPolicy {
  /**
   * A request starts only if the blocks for its whole output can be reserved. No request is ever
   * paused.
   */
  GUARANTEED_NO_EVICT,
  /**
   * A request starts as soon as the blocks of its next step are available. When a running request
   * finds none, the requests that started last are paused and recomputed later.
   */
  MAX_UTILIZATION;

  /** {@return the policy's name in options and files, for example {@code guaranteed_no_evict}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
