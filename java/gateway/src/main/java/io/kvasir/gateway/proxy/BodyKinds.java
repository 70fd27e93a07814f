package io.kvasir.gateway.proxy;

import io.kvasir.gateway.exchange.Headers;
import java.util.List;
import java.util.Locale;

/** Which bodies are read, by the header fields of their requests. Stateless. */
final class BodyKinds {

  /** Types of several JSON documents, which no engine takes for one. */
  private static final List<String> SEVERAL = List.of("ndjson", "jsonl", "json-seq");

  private BodyKinds() {}

  /** Whether a request has a body. */
  static boolean hasBody(Headers headers) {
    String length = headers.get("content-length");
    return (length != null && !length.equals("0")) || headers.get("transfer-encoding") != null;
  }

  /**
   * Whether an engine may read a body as JSON: its type says so, there is none, or there are
   * several and one does.
   */
  static boolean isJson(Headers headers) {
    List<String> types = headers.all("content-type");
    return types.isEmpty() || types.stream().anyMatch(BodyKinds::isJson);
  }

  private static boolean isJson(String type) {
    int parameters = type.indexOf(';');
    String name = (parameters < 0 ? type : type.substring(0, parameters)).toLowerCase(Locale.ROOT);
    return name.isBlank() || (name.contains("json") && SEVERAL.stream().noneMatch(name::contains));
  }
}
