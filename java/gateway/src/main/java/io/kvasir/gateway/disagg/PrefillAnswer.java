package io.kvasir.gateway.disagg;

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
  public static final PrefillAnswer NONE = new PrefillAnswer(new byte[0], Map.of(), 0, -1, true);

  private static final ObjectMapper JSON =
      new ObjectMapper().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
  private static final String CHOICES = "choices";
  private static final String KV_PARAMS = "kv_transfer_params";
  private static final String STOP_REASON = "stop_reason";
  private static final String STATUS = "status";
  private static final String TOKENS = "prompt_token_ids";

  /** Members whose fields are read. */
  private static final Set<String> READ =
      Set.of(CHOICES, KV_PARAMS, "disaggregated_params", "usage");

  /** Further members whose JSON is kept. */
  private static final Set<String> KEPT = Set.of(STOP_REASON, STATUS, TOKENS);

  private final byte[] json;
  private final Map<String, Member> members;
  private final int fields;
  private final long cachedTokens;
  private final boolean onePrompt;

  /** A member as JSON, and its fields where they are read. */
  private record Member(String text, JsonNode fields) {}

  private PrefillAnswer(
      byte[] json, Map<String, Member> members, int fields, long cachedTokens, boolean onePrompt) {
    this.json = json;
    this.members = members;
    this.fields = fields;
    this.cachedTokens = cachedTokens;
    this.onePrompt = onePrompt;
  }

  /**
   * Reads an answer. O(bytes), in memory for what it keeps.
   *
   * @param json the answer; not copied
   * @return what it hands over
   * @throws BadAnswerException if it is no object of JSON, or has too many fields
   */
  public static PrefillAnswer of(byte[] json) throws BadAnswerException {
    Map<String, Member> members = new TreeMap<>();
    int fields = 0;
    boolean onePrompt = true;
    AnswerFields reader = new AnswerFields(JSON);
    try (JsonParser parser = JSON.createParser(json)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new BadAnswerException("it is no JSON object");
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        fields++;
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        int start = (int) parser.currentTokenLocation().getByteOffset();
        if (value == JsonToken.VALUE_NULL) {
          continue;
        }
        JsonNode read = MissingNode.getInstance();
        if (READ.contains(name)) {
          read = fields(reader, name, parser);
        } else if (name.equals(TOKENS)) {
          onePrompt = skipsPrompt(parser, value);
        }
        parser.skipChildren();
        if (KEPT.contains(name) || READ.contains(name)) {
          members.put(name, new Member(text(json, parser, value, start), read));
        }
      }
      Usage usage = Usage.of(Unpooled.wrappedBuffer(json));
      return new PrefillAnswer(json, Map.copyOf(members), fields, usage.cachedTokens(), onePrompt);
    } catch (IOException | RuntimeException e) {
      throw new BadAnswerException("it is no valid JSON");
    }
  }

  /** What is read of a member at whose value a parser is. */
  private static JsonNode fields(AnswerFields reader, String name, JsonParser parser)
      throws IOException, BadAnswerException {
    return switch (name) {
      case CHOICES -> reader.choices(parser);
      case KV_PARAMS -> reader.shallow(parser);
      default -> reader.whole(parser);
    };
  }

  /**
   * Skips a value that should be the tokens of one prompt: a list of integers, or a list of only
   * such a list.
   *
   * @return whether it is
   */
  private static boolean skipsPrompt(JsonParser parser, JsonToken value) throws IOException {
    int depth = value == JsonToken.START_ARRAY ? 1 : 0;
    int deepest = depth;
    long tokens = 0;
    boolean fits = true;
    while (depth > 0) {
      JsonToken next = parser.nextToken();
      if (next == JsonToken.START_ARRAY) {
        depth++;
        fits &= deepest == 1 && tokens == 0;
        deepest = Math.max(deepest, depth);
      } else if (next == JsonToken.END_ARRAY) {
        depth--;
      } else {
        tokens++;
        fits &= next == JsonToken.VALUE_NUMBER_INT && depth == deepest;
        parser.skipChildren();
      }
    }
    return fits && tokens > 0;
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
    Member member = members.get(name);
    return member == null ? null : member.text;
  }

  /** Whether its {@code prompt_token_ids}, if it has any, are the tokens of one prompt. */
  boolean hasOnePrompt() {
    return onePrompt;
  }

  /** The list of the prompt's tokens; null if it has none. While it {@link #hasOnePrompt}. */
  @Nullable String promptTokens() {
    String list = member(TOKENS);
    int nested = list == null ? 0 : list.indexOf('[', 1);
    return list == null || nested < 0
        ? list
        : list.substring(nested, list.lastIndexOf(']', list.length() - 2) + 1);
  }

  /** Whether it has no field at all. */
  boolean isEmpty() {
    return fields == 0;
  }

  /** Whether a member of the answer is an object. */
  boolean hasObject(String name) {
    return read(name).isObject();
  }

  /** The choices; missing if there are none. */
  JsonNode choices() {
    return read(CHOICES);
  }

  /** Whether the model has ended the answer with its first token, and not the limit of tokens. */
  boolean isEnded() {
    JsonNode reason = choices().path(0).path("finish_reason");
    return (reason.isTextual() && !reason.textValue().equals("length"))
        || "\"completed\"".equals(member(STATUS))
        || (member(STOP_REASON) != null && !"\"max_tokens\"".equals(member(STOP_REASON)));
  }

  /** A member whose fields are read; missing if the answer has none. */
  JsonNode read(String name) {
    Member member = members.get(name);
    return member == null ? MissingNode.getInstance() : member.fields;
  }
}
