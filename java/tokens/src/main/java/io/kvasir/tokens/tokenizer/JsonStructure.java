package io.kvasir.tokens.tokenizer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a {@code tokenizer.json} says about cutting a text. Immutable.
 *
 * <p>Hugging Face's added vocabulary first finds the tokens with {@code normalized: false} in the
 * text as it is. The pieces between them are normalised one by one and searched for the other added
 * tokens. The pieces that remain are tokenized independently of each other; only the scheme {@code
 * first} of Metaspace asks whether a piece begins at the text's beginning. So a text may be cut
 * where a token of the first search begins: the segment then begins with that token, and every
 * piece is what it was. The same holds for the other tokens if nothing is normalised.
 *
 * <ul>
 *   <li>A token with {@code lstrip} takes whitespace in front of it, so there is no cut in front of
 *       it; a cut earlier bounds what it takes.
 *   <li>A token with {@code rstrip} takes whitespace behind it, up to the next token.
 *   <li>Nothing is cut if a token may lie in whitespace that another one takes.
 *   <li>Nothing is cut if a token is a {@code single_word}, which depends on the next character.
 * </ul>
 */
final class JsonStructure {

  private static final ObjectMapper MAPPER =
      new ObjectMapper(
          JsonFactory.builder()
              .streamReadConstraints(
                  StreamReadConstraints.builder()
                      .maxNestingDepth(100)
                      .maxStringLength(TokenizerFiles.MAX_BYTES)
                      .build())
              .build());

  private final List<AddedTokens.Token> first = new ArrayList<>();
  private final List<AddedTokens.Token> second = new ArrayList<>();
  private String uncutReason = "";
  private boolean normalizes;
  private boolean wordsInSecond;
  private boolean strips;
  private boolean stripsBehind;
  private String strippedInFront = ""; // a token that can lie in whitespace

  private JsonStructure() {}

  /**
   * Reads a file. O(n); the vocabulary is skipped.
   *
   * @param file for messages
   * @param json its text
   * @return its structure
   * @throws TokenizerException if it is no JSON object, its ids are random, or it has added tokens
   *     that end the process on some texts
   */
  static JsonStructure read(Path file, String json) throws TokenizerException {
    JsonStructure structure = new JsonStructure();
    try (JsonParser parser = MAPPER.createParser(json)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new TokenizerException(file, "is no JSON object");
      }
      Set<String> fields = new HashSet<>();
      List<JsonNode> added = new ArrayList<>();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName();
        if (!fields.add(field)) {
          throw new TokenizerException(file, "has two fields " + field);
        }
        parser.nextToken();
        switch (field) {
          case "added_tokens" -> parser.<JsonNode>readValueAsTree().forEach(added::add);
          case "normalizer" -> structure.normalizes = normalizes(parser.readValueAsTree());
          case "model" -> readModel(file, parser);
          default -> parser.skipChildren();
        }
      }
      if (parser.currentToken() != JsonToken.END_OBJECT || parser.nextToken() != null) {
        throw new TokenizerException(file, "does not end with its JSON object");
      }
      added.forEach(structure::add);
    } catch (IOException e) {
      throw new TokenizerException(file, "is no JSON: " + e.getMessage(), e);
    }
    if (structure.stripsBehind && !structure.strippedInFront.isEmpty()) {
      // The token may lie in the whitespace that another one takes: the library ends the process.
      throw new TokenizerException(
          file,
          "added token '"
              + structure.strippedInFront
              + "' takes whitespace in front of it, and may be part of what another one takes");
    }
    structure.decide();
    return structure;
  }

  private static void readModel(Path file, JsonParser parser)
      throws IOException, TokenizerException {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      throw new TokenizerException(file, "its model is no JSON object");
    }
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      boolean dropout = parser.currentName().equals("dropout");
      JsonToken value = parser.nextToken();
      if (dropout && value.isNumeric() && parser.getDoubleValue() != 0) {
        throw new TokenizerException(file, "its dropout makes token ids random");
      }
      parser.skipChildren();
    }
  }

  private static boolean normalizes(JsonNode normalizer) {
    if (normalizer.isNull()) {
      return false;
    }
    if (normalizer.path("type").asText().equals("Sequence")) {
      for (JsonNode step : normalizer.path("normalizers")) {
        if (normalizes(step)) {
          return true;
        }
      }
      return !normalizer.path("normalizers").isArray();
    }
    return true;
  }

  private void add(JsonNode token) {
    String content = token.path("content").asText();
    if (content.isEmpty()) {
      return;
    }
    boolean normalized = token.path("normalized").asBoolean(true);
    if (content.length() > AddedTokens.MAX_TOKEN_CHARS) {
      uncutReason = "an added token is longer than " + AddedTokens.MAX_TOKEN_CHARS + " characters";
    }
    if (token.path("single_word").asBoolean()) {
      if (normalized) {
        wordsInSecond = true;
      } else {
        uncutReason = "added token " + content + " must be a single word";
      }
    }
    strips |= token.path("lstrip").asBoolean() || token.path("rstrip").asBoolean();
    stripsBehind |= token.path("rstrip").asBoolean();
    if (token.path("lstrip").asBoolean()
        && (content.codePoints().allMatch(JsonStructure::isSpace) || (normalized && normalizes))) {
      strippedInFront = content;
    }
    (normalized ? second : first)
        .add(new AddedTokens.Token(content, -1, !token.path("lstrip").asBoolean()));
  }

  private static boolean isSpace(int c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c) || c == 0x85;
  }

  private static boolean isSpaceAtAnEnd(String content) {
    return isSpace(content.codePointAt(0)) || isSpace(content.codePointBefore(content.length()));
  }

  private void decide() {
    if (normalizes || wordsInSecond) {
      second.clear();
    }
    Set<String> contents = new HashSet<>();
    boolean cuts = false;
    for (List<AddedTokens.Token> stage : List.of(first, second)) {
      for (AddedTokens.Token token : stage) {
        cuts |= token.cuts();
        if (strips && isSpaceAtAnEnd(token.content())) {
          uncutReason =
              "added token '" + token.content() + "' may be taken as whitespace by another";
        }
        if (!contents.add(token.content())) {
          uncutReason = "added token " + token.content() + " is there twice";
        }
      }
    }
    if (uncutReason.isEmpty() && !cuts) {
      uncutReason = "it has no added token at which a text can be cut";
    }
  }

  /** {@return why texts must not be cut; empty if they may be} */
  String uncutReason() {
    return uncutReason;
  }

  /** {@return the search for added tokens; to be used only if texts may be cut} */
  AddedTokens addedTokens() {
    return AddedTokens.of(first, second);
  }

  /** {@return the texts of the tokens at which texts are cut} */
  List<String> cutting() {
    List<String> contents = new ArrayList<>();
    for (List<AddedTokens.Token> stage : List.of(first, second)) {
      stage.stream()
          .filter(AddedTokens.Token::cuts)
          .map(AddedTokens.Token::content)
          .forEach(contents::add);
    }
    return contents;
  }
}
