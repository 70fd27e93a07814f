package io.kvasir.gateway.tokens;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import it.unimi.dsi.fastutil.ints.IntArrayList;
import java.io.IOException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads an engine's answer to a question for tokens. Stateless. */
final class TokenAnswer {

  private static final JsonFactory JSON = new JsonFactory();

  /** The names of {@code /tokenize} and of render endpoints. */
  private static final Set<String> NAMES = Set.of("tokens", "token_ids");

  private TokenAnswer() {}

  /**
   * The tokens of an answer. O(bytes).
   *
   * @param answer the body
   * @return the tokens; null if it has none, or anything else among them
   */
  static int @Nullable [] read(byte[] answer) {
    try (JsonParser parser = JSON.createParser(answer)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return null;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        boolean wanted = NAMES.contains(parser.currentName());
        JsonToken value = parser.nextToken();
        if (wanted && value == JsonToken.START_ARRAY) {
          return tokens(parser);
        }
        parser.skipChildren();
      }
    } catch (IOException e) {
      return null; // counts as no answer
    }
    return null;
  }

  private static int @Nullable [] tokens(JsonParser parser) throws IOException {
    IntArrayList tokens = new IntArrayList();
    for (JsonToken token = parser.nextToken();
        token != JsonToken.END_ARRAY;
        token = parser.nextToken()) {
      if (token != JsonToken.VALUE_NUMBER_INT || parser.getIntValue() < 0) {
        return null;
      }
      tokens.add(parser.getIntValue());
    }
    return tokens.isEmpty() ? null : tokens.toIntArray();
  }
}
