package io.kvasir.gateway.proxy;

import io.kvasir.gateway.openai.JsonText;
import java.util.Set;
import java.util.stream.Collectors;

/** The answers to {@code GET /v1/models}. Stateless. */
final class ModelsJson {

  private static final long CREATED = System.currentTimeMillis() / 1_000;

  private ModelsJson() {}

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
