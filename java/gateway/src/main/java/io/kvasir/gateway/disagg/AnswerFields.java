package io.kvasir.gateway.disagg;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.gateway.openai.BodyField;
import java.io.IOException;

/**
 * Reads those fields of a prefill worker's answer that decide what happens next. An answer has up
 * to 32 MiB, and a tree of all its values would take 30 times as much memory, so lists and objects
 * that only pass through are empty here, and the number of values that are kept has a bound.
 *
 * <p>Confined to the thread that reads one answer.
 */
final class AnswerFields {

  /** Most values that are kept of one answer; engines send some dozen. */
  private static final int MOST_VALUES = 65_536;

  private static final String PARAMS = BodyField.DISAGGREGATED_PARAMS.key();

  private final ObjectMapper json;
  private int values;

  /**
   * Makes a reader of one answer.
   *
   * @param json how numbers are read
   */
  AnswerFields(ObjectMapper json) {
    this.json = json;
  }

  /**
   * Reads the value at which a parser is, all of it, and leaves the parser at its end.
   *
   * @throws BadAnswerException if it has too many values
   */
  JsonNode whole(JsonParser parser) throws IOException, BadAnswerException {
    count();
    JsonToken token = parser.currentToken();
    if (token == JsonToken.START_OBJECT) {
      ObjectNode object = json.createObjectNode();
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        object.set(name, whole(parser));
      }
      return object;
    }
    if (token == JsonToken.START_ARRAY) {
      ArrayNode list = json.createArrayNode();
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        list.add(whole(parser));
      }
      return list;
    }
    return parser.readValueAsTree();
  }

  /**
   * Reads the value at which a parser is. Lists and objects inside it are empty, but for {@code
   * disaggregated_params}.
   *
   * @throws BadAnswerException if it has too many values
   */
  JsonNode shallow(JsonParser parser) throws IOException, BadAnswerException {
    if (parser.currentToken() != JsonToken.START_OBJECT) {
      return leaf(parser);
    }
    ObjectNode object = json.createObjectNode();
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      parser.nextToken();
      object.set(name, name.equals(PARAMS) ? whole(parser) : leaf(parser));
    }
    return object;
  }

  /**
   * Reads the list of choices at which a parser is: the first one as {@link #shallow}, and of a
   * second one that there is one. A value that is no list is a {@link #leaf}.
   *
   * @throws BadAnswerException if it has too many values
   */
  JsonNode choices(JsonParser parser) throws IOException, BadAnswerException {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      return leaf(parser);
    }
    ArrayNode list = json.createArrayNode();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (list.isEmpty()) {
        list.add(shallow(parser));
      } else {
        parser.skipChildren();
        if (list.size() == 1) {
          list.addNull();
        }
      }
    }
    return list;
  }

  /** Reads a value; a list or an object as an empty one. */
  private JsonNode leaf(JsonParser parser) throws IOException, BadAnswerException {
    count();
    JsonToken token = parser.currentToken();
    parser.skipChildren();
    if (token == JsonToken.START_OBJECT) {
      return json.createObjectNode();
    }
    return token == JsonToken.START_ARRAY ? json.createArrayNode() : parser.readValueAsTree();
  }

  private void count() throws BadAnswerException {
    if (++values > MOST_VALUES) {
      throw new BadAnswerException("it has more than " + MOST_VALUES + " fields");
    }
  }
}
