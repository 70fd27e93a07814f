package io.kvasir.tokens.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a {@code tokenizer_config.json} says about a tiktoken file.
 *
 * @param tokenizerClass {@code tokenizer_class}, or empty
 * @param added the tokens of {@code added_tokens_decoder}
 * @param before the ids in front of each text
 * @param after the ids behind it
 */
record TokenizerConfig(
    String tokenizerClass,
    List<AddedTokens.Token> added,
    List<Integer> before,
    List<Integer> after) {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  /**
   * Reads a file.
   *
   * @param file for messages
   * @param json its text
   * @return what it says
   * @throws TokenizerException if it is damaged, or has a token that tiktoken cannot have
   */
  static TokenizerConfig read(Path file, String json) throws TokenizerException {
    JsonNode tree;
    try {
      tree = MAPPER.readTree(json);
    } catch (IOException e) {
      throw new TokenizerException(file, "is no JSON: " + e.getMessage(), e);
    }
    if (!tree.isObject()) {
      throw new TokenizerException(file, "is no JSON object");
    }
    List<AddedTokens.Token> added = added(file, tree.path("added_tokens_decoder"));
    return new TokenizerConfig(
        tree.path("tokenizer_class").asText(),
        added,
        framing(file, tree, "bos_token", added),
        framing(file, tree, "eos_token", added));
  }

  private static List<AddedTokens.Token> added(Path file, JsonNode decoder)
      throws TokenizerException {
    List<AddedTokens.Token> added = new ArrayList<>();
    Set<String> contents = new HashSet<>();
    for (Map.Entry<String, JsonNode> field : decoder.properties()) {
      String content = field.getValue().path("content").asText();
      if (content.isEmpty()
          || content.length() > AddedTokens.MAX_TOKEN_CHARS
          || !contents.add(content)) {
        throw new TokenizerException(
            file, "added token " + field.getKey() + " is empty, too long or there twice");
      }
      for (String flag : List.of("lstrip", "rstrip", "single_word")) {
        if (field.getValue().path(flag).asBoolean()) {
          throw new TokenizerException(
              file, "added token " + content + " has " + flag + ", which tiktoken lacks");
        }
      }
      added.add(new AddedTokens.Token(content, id(file, field.getKey()), true));
    }
    return added;
  }

  private static int id(Path file, String key) throws TokenizerException {
    try {
      return Integer.parseUnsignedInt(key, 0, key.length(), 10);
    } catch (NumberFormatException e) {
      throw new TokenizerException(file, "has an added token with the id '" + key + "'", e);
    }
  }

  /** The id of a token that is added to each text, if it is. */
  private static List<Integer> framing(
      Path file, JsonNode tree, String name, List<AddedTokens.Token> added)
      throws TokenizerException {
    if (!tree.path("add_" + name).asBoolean()) {
      return List.of();
    }
    JsonNode token = tree.path(name);
    String content = token.isObject() ? token.path("content").asText() : token.asText();
    for (AddedTokens.Token known : added) {
      if (known.content().equals(content)) {
        return List.of(known.id());
      }
    }
    throw new TokenizerException(
        file, "adds " + name + " '" + content + "', which is no added token");
  }
}
