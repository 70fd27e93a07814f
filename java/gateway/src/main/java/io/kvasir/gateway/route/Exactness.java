package io.kvasir.gateway.route;

import java.util.Locale;

/** How well it is known what of a prompt a rank has in its cache. */
public enum Exactness {
  /** From the engine's block events and the prompt's tokens. */
  EXACT(1),
  /** With a part of it missing, or from the gateway's own placements. */
  APPROXIMATE(0.5),
  /** Not at all: requests are placed by load. */
  LOAD_ONLY(0);

  private final double value;

  Exactness(double value) {
    this.value = value;
  }

  /** {@return the value of the metric {@code kvasir_routing_exactness}} */
  public double value() {
    return value;
  }

  /** {@return the name in reports} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
