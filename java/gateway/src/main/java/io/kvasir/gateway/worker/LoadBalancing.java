package io.kvasir.gateway.worker;

import java.util.Locale;

/** How the ranks of a data-parallel deployment of vLLM share URLs. */
public enum LoadBalancing {
  /** One URL for all ranks. */
  INTERNAL,
  /** One URL for the ranks of each node. */
  HYBRID,
  /** One URL for each rank. */
  EXTERNAL;

  /** {@return the name in options} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
