package io.kvasir.gateway.proxy;

import io.kvasir.gateway.exchange.Headers;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;

/** Which header fields pass the gateway. Stateless. */
final class ForwardedHeaders {

  /**
   * The choice of the gateway, or of an engine of Kvasir, in replies; a request for it in requests.
   */
  static final String KVASIR_PREFIX = "x-kvasir-";

  static final String DP_RANK = "x-data-parallel-rank";
  static final String REQUEST_ID = "x-request-id";

  /** Fields of one connection (RFC 9110, section 7.6.1), and the body's framing. */
  private static final Set<String> HOP_BY_HOP =
      Set.of(
          "connection",
          "keep-alive",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade",
          "content-length");

  /** Fields of requests that the gateway sets itself or that clients must not set. */
  private static final Set<String> NOT_FROM_CLIENTS =
      Set.of("host", "expect", "accept-encoding", "proxy-authorization", DP_RANK, REQUEST_ID);

  /** Fields of replies that the gateway sets itself. */
  private static final Set<String> NOT_FROM_WORKERS = Set.of(REQUEST_ID);

  private ForwardedHeaders() {}

  /** The fields of a client's request that its worker receives. */
  static Headers request(Headers from, String requestId) {
    return kept(from, NOT_FROM_CLIENTS).add(REQUEST_ID, requestId);
  }

  /** The fields of a worker's reply that the client receives, without the body's length. */
  static Headers reply(Headers from, String requestId) {
    return kept(from, NOT_FROM_WORKERS).add(REQUEST_ID, requestId);
  }

  private static Headers kept(Headers from, Set<String> dropped) {
    Set<String> named = named(from);
    Headers kept = new Headers();
    from.forEach(
        (name, value) -> {
          String lower = name.toLowerCase(Locale.ROOT);
          if (!HOP_BY_HOP.contains(lower)
              && !dropped.contains(lower)
              && !named.contains(lower)
              && !lower.startsWith(KVASIR_PREFIX)) {
            kept.add(name, value);
          }
        });
    return kept;
  }

  /** The fields that {@code Connection} names, in lower case. */
  private static Set<String> named(Headers from) {
    if (from.get("connection") == null) {
      return Set.of();
    }
    Set<String> names = new HashSet<>();
    for (String value : from.all("connection")) {
      for (String name : value.split(",", -1)) {
        names.add(name.strip().toLowerCase(Locale.ROOT));
      }
    }
    return names;
  }
}
