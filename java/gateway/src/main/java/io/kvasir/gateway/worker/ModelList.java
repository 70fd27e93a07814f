package io.kvasir.gateway.worker;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.exchange.EngineFlavor;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An engine's answer to {@code GET /v1/models}. Immutable.
 *
 * @param names the models, adapters included
 * @param adapters the LoRA adapters and their base models
 * @param entries what the engine says about each model, as far as it is not too long
 */
public record ModelList(
    Set<String> names, Map<String, String> adapters, Map<String, JsonNode> entries) {

  private static final int MAX_MODELS = 10_000;
  private static final int MAX_NAME_CHARACTERS = 1_024;
  private static final int MAX_ENTRY_CHARACTERS = 16_384;

  /** Copies the collections. */
  public ModelList {
    names = Set.copyOf(names);
    adapters = Map.copyOf(adapters);
    entries = Map.copyOf(entries);
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
    Map<String, JsonNode> entries = new HashMap<>();
    for (JsonNode model : EngineJson.read(json).path("data")) {
      String name = model.path("id").asText("");
      if (model.path("id").isTextual() && isName(name) && names.size() < MAX_MODELS) {
        names.add(name);
        if (model.toString().length() <= MAX_ENTRY_CHARACTERS) {
          entries.put(name, model);
        }
        String parent = model.path("parent").isTextual() ? model.get("parent").asText() : name;
        if (isName(parent) && !parent.equals(name)) {
          adapters.put(name, parent);
        }
      }
    }
    return new ModelList(names, adapters, entries);
  }

  /**
   * {@return the kind of engine that the models name as their owner; null if they name none that is
   * known, or several}
   */
  public @Nullable EngineFlavor flavor() {
    Set<EngineFlavor> named = EnumSet.noneOf(EngineFlavor.class);
    for (JsonNode entry : entries.values()) {
      EngineFlavor owner =
          switch (entry.path("owned_by").asText("").toLowerCase(Locale.ROOT)) {
            case "vllm" -> EngineFlavor.VLLM;
            case "sglang" -> EngineFlavor.SGLANG;
            case "tensorrt_llm", "tensorrt-llm", "trtllm" -> EngineFlavor.TRTLLM;
            default -> null;
          };
      if (owner != null) {
        named.add(owner);
      }
    }
    return named.size() == 1 ? named.iterator().next() : null;
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
