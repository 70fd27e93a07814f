package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Headers;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Which header fields pass the gateway. Stateless. */
final class ForwardedHeaders {

  /**
   * The choice of the gateway, or of an engine of Kvasir, in replies; a request for it in requests.
   */
  static final String KVASIR_PREFIX = "x-kvasir-";

  static final String DP_RANK = "x-data-parallel-rank";
  private static final String X_FORWARDED_FOR = "x-forwarded-for";
  private static final String FORWARDED = "forwarded";
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

  /**
   * Fields with which clients would choose hosts, workers or ranks behind the gateway, for the
   * sidecars and engines of llm-d, Dynamo and SGLang.
   */
  private static final Set<String> STEERING =
      Set.of(
          "x-prefiller-host-port",
          "x-prefiller-url",
          "x-encoder-hosts-ports",
          "x-data-parallel-host-port",
          "x-worker-instance-id",
          "x-prefill-instance-id",
          "x-decode-instance-id",
          "x-dp-rank",
          "x-prefill-dp-rank",
          "x-routed-dp-rank",
          "x-smg-target-worker",
          "x-sgl-prefill-url",
          "x-sgl-decode-url");

  /** The beginnings of names of such fields. */
  private static final List<String> STEERING_PREFIXES =
      List.of("x-gateway-destination-", "x-dynamo-", "x-epp-", KVASIR_PREFIX);

  /** Fields of requests that the gateway sets itself or that clients must not set. */
  private static final Set<String> NOT_FROM_CLIENTS =
      dropped(
          Set.of(
              "host",
              "expect",
              "accept-encoding",
              "proxy-authorization",
              X_FORWARDED_FOR,
              FORWARDED,
              DP_RANK,
              REQUEST_ID));

  /** Fields of replies that the gateway sets itself or that engines must not set. */
  private static final Set<String> NOT_FROM_WORKERS =
      dropped(
          Set.of(
              REQUEST_ID,
              "access-control-allow-origin",
              "access-control-allow-credentials",
              "access-control-allow-methods",
              "access-control-allow-headers",
              "access-control-allow-private-network",
              "access-control-expose-headers",
              "access-control-max-age"));

  private static final Pattern RANK = Pattern.compile("[0-9]{1,4}");

  private ForwardedHeaders() {}

  private static Set<String> dropped(Set<String> others) {
    return Stream.of(HOP_BY_HOP, STEERING, others)
        .flatMap(Set::stream)
        .collect(Collectors.toUnmodifiableSet());
  }

  /**
   * The fields of a client's request that its worker receives: the client's address follows those
   * that the client states.
   */
  static Headers request(RequestHead from, String requestId) {
    Headers kept = kept(from.headers(), NOT_FROM_CLIENTS).add(REQUEST_ID, requestId);
    kept.add(X_FORWARDED_FOR, extended(from.headers(), X_FORWARDED_FOR, from.client()));
    if (from.headers().get(FORWARDED) != null) {
      String node = from.client().indexOf(':') < 0 ? from.client() : "\"[" + from.client() + "]\"";
      kept.add(FORWARDED, extended(from.headers(), FORWARDED, "for=" + node));
    }
    return kept;
  }

  private static String extended(Headers from, String name, String last) {
    if (from.get(name) == null) {
      return last;
    }
    return String.join(", ", from.all(name)) + ", " + last;
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
          if (!dropped.contains(lower) && !named.contains(lower) && !isSteering(lower)) {
            kept.add(name, value);
          }
        });
    return kept;
  }

  /** Whether a name begins like those of {@link #STEERING}. */
  private static boolean isSteering(String lower) {
    if (!lower.startsWith("x-")) {
      return false;
    }
    for (String prefix : STEERING_PREFIXES) {
      if (lower.startsWith(prefix)) {
        return true;
      }
    }
    return false;
  }

  /**
   * The rank that serves a request, as ranks of Kvasir say.
   *
   * @param reply the fields of the reply
   * @param worker the worker that sent it
   * @return its number; -1 if the reply has none, or none that the worker can have
   */
  static int reportedRank(Headers reply, FleetWorker worker) {
    String rank = reply.get(KVASIR_PREFIX + "dp-rank");
    if (rank == null || !RANK.matcher(rank).matches()) {
      return -1;
    }
    int number = Integer.parseInt(rank);
    int ranks = worker.spec().isInProcess() ? WorkerSpec.MAX_RANKS : worker.profile().ranks();
    return number < ranks ? number : -1;
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
