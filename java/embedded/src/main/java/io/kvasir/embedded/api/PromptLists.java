package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Reads fields that hold one prompt or several, as texts or token ids. Stateless. */
public final class PromptLists {

  private PromptLists() {}

  /**
   * The prompts of a field: a text, texts, token ids, or lists of token ids.
   *
   * @param most most prompts
   * @param tokenizer makes the tokens of a text
   * @return the tokens of each, at least one prompt
   * @throws ApiError if the field is missing or has anything else
   */
  public static List<int[]> read(
      RequestFields fields, String name, int most, Function<String, int[]> tokenizer) {
    JsonNode value = fields.get(name);
    if (value == null) {
      throw fields.missing(name);
    }
    if (value.isTextual()) {
      return List.of(tokenizer.apply(value.textValue()));
    }
    if (!value.isArray() || value.isEmpty()) {
      throw fields.wrong(name, "a string, token ids, or an array of either", value);
    }
    if (value.get(0).isNumber()) {
      return List.of(TokenIds.read(fields, name));
    }
    if (value.size() > most) {
      throw ApiError.invalid(
          name, name + " must have at most " + most + " elements, not " + value.size());
    }
    List<int[]> prompts = new ArrayList<>();
    for (JsonNode each : value) {
      prompts.add(each.isTextual() ? tokenizer.apply(each.textValue()) : TokenIds.read(name, each));
    }
    return prompts;
  }
}
