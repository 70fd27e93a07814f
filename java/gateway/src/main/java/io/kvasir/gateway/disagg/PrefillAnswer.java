package io.kvasir.gateway.disagg;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.kvasir.gateway.openai.JsonText;
import io.kvasir.gateway.openai.Usage;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a prefill worker has answered. Values are kept as the JSON in which they came, so that no
 * number loses digits on its way. Immutable.
 */
public final class PrefillAnswer {

  /** No answer, because both legs are sent at once. */
  public static final PrefillAnswer NONE = new PrefillAnswer(new byte[0], Map.of(), 0, -1);

  private static final JsonFactory JSON = new JsonFactory();
  private static final ObjectMapper MAPPER =
      new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
  private static final String CHOICES = "choices";
  private static final String STOP_REASON = "stop_reason";
  private static final String STATUS = "status";
  private static final Set<String> KEPT =
      Set.of(
          CHOICES,
          STOP_REASON,
          STATUS,
          "kv_transfer_params",
          "disaggregated_params",
          "prompt_token_ids",
          "usage");

  private final byte[] json;
  private final Map<String, String> members;
  private final int fields;
  private final long cachedTokens;

  private PrefillAnswer(byte[] json, Map<String, String> members, int fields, long cachedTokens) {
    this.json = json;
    this.members = members;
    this.fields = fields;
    this.cachedTokens = cachedTokens;
  }

  /**
   * Reads an answer. O(bytes).
   *
   * @param json the answer; not copied
   * @return what it hands over
   * @throws BadAnswerException if it is no object of JSON
   */
  public static PrefillAnswer of(byte[] json) throws BadAnswerException {
    Map<String, String> members = new TreeMap<>();
    int fields = 0;
    try (JsonParser parser = JSON.createParser(json)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new BadAnswerException("it is no JSON object");
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        fields++;
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        int start = (int) parser.currentTokenLocation().getByteOffset();
        parser.skipChildren();
        if (KEPT.contains(name) && value != JsonToken.VALUE_NULL) {
          members.put(name, text(json, parser, value, start));
        }
      }
      Usage usage = Usage.of(Unpooled.wrappedBuffer(json));
      return new PrefillAnswer(json, Map.copyOf(members), fields, usage.cachedTokens());
    } catch (IOException | RuntimeException e) {
      throw new BadAnswerException("it is no valid JSON");
    }
  }

  /** The JSON of the value at which a parser is, or whose end it has reached. */
  private static String text(byte[] json, JsonParser parser, JsonToken value, int start)
      throws IOException {
    if (value.isStructStart()) {
      int end = (int) parser.currentLocation().getByteOffset();
      return new String(json, start, end - start, StandardCharsets.UTF_8);
    }
    return value == JsonToken.VALUE_STRING ? JsonText.quoted(parser.getText()) : parser.getText();
  }

  /** {@return the answer as it came} */
  public byte[] json() {
    return json;
  }

  /**
   * {@return prompt tokens that the worker had cached, by its usage; negative if it states none}
   */
  public long cachedTokens() {
    return cachedTokens;
  }

  /** The JSON of a member of the answer; null if it is missing or null. */
  @Nullable String member(String name) {
    return members.get(name);
  }

  /** Whether it has no field at all. */
  boolean isEmpty() {
    return fields == 0;
  }

  /** Whether a member of the answer is an object. */
  boolean hasObject(String name) {
    return members.getOrDefault(name, "").startsWith("{");
  }

  /** The choices; missing if there are none. O(bytes) on each call. */
  JsonNode choices() {
    return read(CHOICES);
  }

  /** Whether the model has ended the answer with its first token, and not the limit of tokens. */
  boolean isEnded() {
    JsonNode reason = choices().path(0).path("finish_reason");
    return (reason.isTextual() && !reason.textValue().equals("length"))
        || "\"completed\"".equals(member(STATUS))
        || !"\"max_tokens\"".equals(members.getOrDefault(STOP_REASON, "\"max_tokens\""));
  }

  /** A member of the answer; missing if it has none. O(bytes) on each call. */
  JsonNode read(String name) {
    String text = members.get(name);
    try {
      return text == null ? MissingNode.getInstance() : MAPPER.readTree(text);
    } catch (IOException e) {
      throw new IllegalStateException(e); // it was read before
    }
  }
}
