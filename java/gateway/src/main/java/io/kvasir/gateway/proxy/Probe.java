package io.kvasir.gateway.proxy;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a probe of a balancer, a supervisor or a client asks. */
public enum Probe {
  /** Whether the gateway runs. */
  LIVE,
  /** Whether it may be sent requests. */
  READY;

  /** By path: those of vLLM, of Kubernetes, of SageMaker, and those that Claude Code asks for. */
  private static final Map<String, Probe> PATHS =
      Map.of(
          "/", LIVE,
          "/health", LIVE,
          "/healthz", LIVE,
          "/livez", LIVE,
          "/ping", LIVE,
          "/api/hello", LIVE,
          "/ready", READY,
          "/readyz", READY);

  /**
   * {@return the probe that a path stands for; null if it stands for none}
   *
   * @param path the path without a query
   */
  public static @Nullable Probe of(String path) {
    return PATHS.get(path);
  }
}
