package io.kvasir.gateway.proxy;

import io.kvasir.gateway.openai.JsonText;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The paths and the answers of {@code GET /v1/models}. Stateless. */
final class ModelsJson {

  private static final long CREATED = System.currentTimeMillis() / 1_000;

  private static final String MODELS = "/v1/models";

  private ModelsJson() {}

  /** Whether a path is that of all models, or of one. */
  static boolean serves(String path) {
    return path.equals(MODELS) || path.startsWith(MODELS + "/");
  }

  /** The model that a path names; null if it is the path of all models. */
  static @Nullable String name(String path) {
    if (path.equals(MODELS)) {
      return null;
    }
    String segment = path.substring(MODELS.length() + 1);
    return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  static String list(Set<String> models) {
    return models.stream()
        .map(ModelsJson::model)
        .collect(Collectors.joining(",", "{\"object\":\"list\",\"data\":[", "]}"));
  }

  static String model(String name) {
    return "{\"id\":"
        + JsonText.quoted(name)
        + ",\"object\":\"model\",\"created\":"
        + CREATED
        + ",\"owned_by\":\"kvasir\"}";
  }
}
