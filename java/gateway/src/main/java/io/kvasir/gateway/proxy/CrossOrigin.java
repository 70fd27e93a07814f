package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Which pages in browsers may use the public port (the Fetch Standard's CORS protocol), as vLLM and
 * SGLang decide it. Immutable.
 *
 * @param origins the allowed origins; {@code *} allows all
 * @param methods the allowed methods; {@code *} allows all
 * @param headers the allowed fields of requests, besides those that are always allowed; {@code *}
 *     allows all
 * @param credentials whether pages may send cookies and the like
 */
public record CrossOrigin(
    List<String> origins, List<String> methods, List<String> headers, boolean credentials) {

  /** Allows all pages, without credentials: the default of vLLM. */
  public static final CrossOrigin ALL =
      new CrossOrigin(List.of("*"), List.of("*"), List.of("*"), false);

  private static final String ALLOW = "access-control-allow-";
  private static final String ALLOW_ORIGIN = ALLOW + "origin";
  private static final String REQUEST_METHOD = "access-control-request-method";
  private static final String REQUEST_HEADERS = "access-control-request-headers";
  private static final String METHODS = "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT";
  private static final Set<String> SAFE_HEADERS =
      Set.of("accept", "accept-language", "content-language", "content-type");
  private static final String MAX_AGE_SECONDS = "600";

  /** Copies the lists. */
  public CrossOrigin {
    origins = List.copyOf(origins);
    methods = List.copyOf(methods);
    headers = List.copyOf(headers);
  }

  /**
   * Prepares a request's reply, whatever it will be, and answers a preflight.
   *
   * @param exchange the request
   * @return whether it was answered
   */
  boolean answers(Exchange exchange) {
    String origin = exchange.headers().get("origin");
    if (origin == null && origins.contains("*") && !credentials) {
      return false; // nearly always: a client that is no browser, and replies are alike
    }
    exchange.replyWith(fields(origin));
    if (origin == null
        || !exchange.method().equals("OPTIONS")
        || exchange.headers().get(REQUEST_METHOD) == null) {
      return false;
    }
    preflight(exchange, origin);
    return true;
  }

  private boolean allows(String origin) {
    return origins.contains("*") || origins.contains(origin);
  }

  /** The fields of every reply. One that depends on the origin says so to caches. */
  private Headers fields(@Nullable String origin) {
    Headers fields = new Headers();
    boolean same = origins.contains("*") && !credentials;
    if (!same) {
      fields.add("vary", "Origin");
    }
    if (origin != null && allows(origin)) {
      fields.add(ALLOW_ORIGIN, same ? "*" : origin);
      if (credentials) {
        fields.add(ALLOW + "credentials", "true");
      }
    }
    return fields;
  }

  private void preflight(Exchange exchange, String origin) {
    String method = Objects.requireNonNull(exchange.headers().get(REQUEST_METHOD));
    String asked = exchange.headers().get(REQUEST_HEADERS);
    List<String> refused = new ArrayList<>();
    if (!allows(origin)) {
      refused.add("origin");
    }
    if (!methods.contains("*") && !methods.contains(method)) {
      refused.add("method");
    }
    if (asked != null && !allowsHeaders(asked)) {
      refused.add("headers");
    }
    Headers reply = new Headers();
    reply.add(ALLOW + "methods", methods.contains("*") ? METHODS : String.join(", ", methods));
    if (!headers.contains("*")) {
      TreeSet<String> all = new TreeSet<>(SAFE_HEADERS);
      headers.forEach(name -> all.add(name.toLowerCase(Locale.ROOT)));
      reply.add(ALLOW + "headers", String.join(", ", all));
    } else if (asked != null) {
      reply.add(ALLOW + "headers", asked);
    }
    reply.add("access-control-max-age", MAX_AGE_SECONDS);
    String text =
        refused.isEmpty() ? "OK" : "not allowed across origins: " + String.join(", ", refused);
    byte[] body = text.getBytes(StandardCharsets.US_ASCII);
    Replies.send(exchange, refused.isEmpty() ? 200 : 400, "text/plain", body, reply);
  }

  private boolean allowsHeaders(String asked) {
    return headers.contains("*")
        || Arrays.stream(asked.split(",", -1))
            .map(name -> name.strip().toLowerCase(Locale.ROOT))
            .allMatch(
                name ->
                    SAFE_HEADERS.contains(name)
                        || headers.stream().anyMatch(each -> each.equalsIgnoreCase(name)));
  }
}
