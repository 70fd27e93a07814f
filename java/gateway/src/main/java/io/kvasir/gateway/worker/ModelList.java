package io.kvasir.gateway.worker;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * An engine's answer to {@code GET /v1/models}. Immutable.
 *
 * @param names the models, adapters included
 * @param adapters the LoRA adapters and their base models
 */
public record ModelList(Set<String> names, Map<String, String> adapters) {

  private static final int MAX_MODELS = 10_000;
  private static final int MAX_NAME_CHARACTERS = 1_024;

  /** Copies the collections. */
  public ModelList {
    names = Set.copyOf(names);
    adapters = Map.copyOf(adapters);
  }

  /**
   * Reads an answer. A model with a {@code parent} is an adapter of it.
   *
   * @param json the answer
   * @return its models, without those that have no proper name; empty if it is no list of models
   */
  public static ModelList parse(byte[] json) {
    Set<String> names = new HashSet<>();
    Map<String, String> adapters = new HashMap<>();
    for (JsonNode model : EngineJson.read(json).path("data")) {
      String name = model.path("id").asText("");
      if (model.path("id").isTextual() && isName(name) && names.size() < MAX_MODELS) {
        names.add(name);
        String parent = model.path("parent").isTextual() ? model.get("parent").asText() : name;
        if (isName(parent) && !parent.equals(name)) {
          adapters.put(name, parent);
        }
      }
    }
    return new ModelList(names, adapters);
  }

  /** Whether a text has characters, not too many, no surrogate without its pair, no line feeds. */
  private static boolean isName(String text) {
    return !text.isEmpty()
        && text.length() <= MAX_NAME_CHARACTERS
        && text.codePoints()
            .noneMatch(
                c ->
                    (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)
                        || Character.isISOControl(c)
                        || c == '\u2028'
                        || c == '\u2029');
  }
}
