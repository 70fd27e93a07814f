package io.kvasir.exchange.http;

import io.kvasir.exchange.Headers;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import java.util.List;
import java.util.Set;

/**
 * What a request must satisfy besides the syntax that the decoder checks: its target is visible
 * ASCII, the end of its body is stated in one way only, and it names one host (RFC 9112, section
 * 3.2). Stateless.
 */
final class RequestRules {

  private static final int BAD_REQUEST = 400;
  private static final int METHOD_NOT_ALLOWED = 405;
  private static final int TOO_LONG_LINE = 414;
  private static final int TOO_LONG_HEADER = 431;

  /** Methods that are not served: a tunnel passes bytes unread, a trace returns fields. */
  private static final Set<String> FORBIDDEN = Set.of("CONNECT", "TRACE");

  /** Methods whose requests can have a body without a stated length. */
  private static final Set<String> MAY_STREAM = Set.of("POST", "PUT", "PATCH");

  private static final String LENGTH = "content-length";
  private static final String TYPE = "content-type";

  private RequestRules() {}

  /** Whether a request is of a method that is not served. */
  static boolean isForbidden(HttpServerRequest request) {
    return FORBIDDEN.contains(request.method().name());
  }

  static boolean isValid(HttpServerRequest request) {
    return request.decoderResult().isSuccess()
        && isVisibleAscii(request.uri())
        && request.uri().length() <= HttpFront.MAX_LINE_BYTES
        && isPlainlyFramed(request.headers())
        && namesOneHost(request);
  }

  /** The status of the answer to a request that is forbidden, not valid, or was not read. */
  static int status(HttpServerRequest request) {
    Throwable cause = request.decoderResult().cause();
    if (cause == null && isForbidden(request)) {
      return METHOD_NOT_ALLOWED;
    }
    boolean line = request.uri() != null && request.uri().length() > HttpFront.MAX_LINE_BYTES;
    return cause instanceof TooLongHttpLineException || (cause == null && line)
        ? TOO_LONG_LINE
        : cause instanceof TooLongHttpHeaderException ? TOO_LONG_HEADER : BAD_REQUEST;
  }

  /** What is wrong with a request whose answer has a status. */
  static String problem(int status) {
    return switch (status) {
      case METHOD_NOT_ALLOWED -> "CONNECT and TRACE are not served";
      case TOO_LONG_LINE ->
          "the request line must not exceed " + HttpFront.MAX_LINE_BYTES + " bytes";
      case TOO_LONG_HEADER ->
          "header fields must not exceed " + HttpFront.MAX_HEADER_BYTES + " bytes together";
      default -> "the request is not valid HTTP";
    };
  }

  /**
   * The fields of a request as those of HTTP/1.1: with a field {@code Host}, cookies in one field
   * (RFC 9113, sections 8.3.1 and 8.2.3), and a body that states a type and no length as one in
   * chunks. Without both, there is no body.
   */
  static Headers headers(HttpServerRequest request) {
    Headers headers = new Headers();
    request.headers().forEach(headers::add);
    if (request.version() == HttpVersion.HTTP_2) {
      headers.set("host", String.valueOf(request.authority()));
      if (MAY_STREAM.contains(request.method().name())
          && headers.get(LENGTH) == null
          && headers.get(TYPE) != null) {
        headers.set("transfer-encoding", "chunked");
      }
      List<String> cookies = headers.all("cookie");
      if (cookies.size() > 1) {
        headers.set("cookie", String.join("; ", cookies));
      }
    }
    return headers;
  }

  /** A client of HTTP/1.0 need not name a host. One of HTTP/2 may name the same one twice. */
  private static boolean namesOneHost(HttpServerRequest request) {
    List<String> hosts = request.headers().getAll(HttpHeaders.HOST);
    if (request.version() == HttpVersion.HTTP_2) {
      HostAndPort authority = request.authority();
      return authority != null
          && hosts.stream().allMatch(host -> host.equalsIgnoreCase(authority.toString()));
    }
    return hosts.size() == 1 || (hosts.isEmpty() && request.version() == HttpVersion.HTTP_1_0);
  }

  private static boolean isVisibleAscii(String target) {
    for (int i = 0; i < target.length(); i++) {
      char c = target.charAt(i);
      if (c <= ' ' || c >= 0x7f) {
        return false;
      }
    }
    return true;
  }

  private static boolean isPlainlyFramed(MultiMap headers) {
    List<String> encodings = headers.getAll(HttpHeaders.TRANSFER_ENCODING);
    return encodings.isEmpty()
        || (encodings.size() == 1
            && encodings.get(0).strip().equalsIgnoreCase("chunked")
            && !headers.contains(HttpHeaders.CONTENT_LENGTH));
  }
}
