package io.kvasir.gateway.http;

import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;

/**
 * What a request must satisfy besides the syntax that the decoder checks: its target is visible
 * ASCII, and the end of its body is stated in one way only. Stateless.
 */
final class RequestRules {

  private RequestRules() {}

  static boolean isValid(HttpServerRequest request) {
    return isVisibleAscii(request.uri()) && isPlainlyFramed(request.headers());
  }

  private static boolean isVisibleAscii(String target) {
    return target.chars().allMatch(c -> c > ' ' && c < 0x7f);
  }

  private static boolean isPlainlyFramed(MultiMap headers) {
    List<String> encodings = headers.getAll(HttpHeaders.TRANSFER_ENCODING);
    return encodings.isEmpty()
        || (encodings.size() == 1
            && encodings.get(0).strip().equalsIgnoreCase("chunked")
            && !headers.contains(HttpHeaders.CONTENT_LENGTH));
  }
}
