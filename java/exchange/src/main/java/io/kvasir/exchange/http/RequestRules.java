package io.kvasir.exchange.http;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.util.List;

/**
 * What a request must satisfy besides the syntax that the decoder checks: its target is visible
 * ASCII, the end of its body is stated in one way only, and it names one host (RFC 9112, section
 * 3.2). Stateless.
 */
final class RequestRules {

  private RequestRules() {}

  static boolean isValid(HttpServerRequest request) {
    return isVisibleAscii(request.uri())
        && isPlainlyFramed(request.headers())
        && namesOneHost(request);
  }

  /** A client of HTTP/1.0 need not name a host. */
  private static boolean namesOneHost(HttpServerRequest request) {
    int hosts = request.headers().getAll(HttpHeaders.HOST).size();
    return hosts == 1 || (hosts == 0 && request.version() == HttpVersion.HTTP_1_0);
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
