package io.kvasir.gateway.openai;

import io.kvasir.fleet.router.PromptSource.Form;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What routing reads of a request's body: a JSON object, checked completely in one pass. Keeps
 * positions and decodes a field when it is asked for.
 *
 * <p>The JSON must follow RFC 8259, be UTF-8 and have at most {@link #MAX_DEPTH} levels. Of the
 * fields in {@link BodyField}, each can occur once and must have its type; a field that is null
 * counts as absent. All other fields can have any value and can be repeated.
 *
 * <p>Immutable by contract: the bytes must not be changed. Thread-safe.
 */
public final class BodyScan {

  /** The deepest nesting of arrays and objects; the body is on level 1. */
  public static final int MAX_DEPTH = JsonCursor.MAX_DEPTH;

  /** The most texts, messages, parts of messages and lists in a field that holds a prompt. */
  public static final int MAX_PARTS = 1 << 18;

  /** The most tokens in a field that holds a prompt. */
  public static final int MAX_TOKENS = 1 << 24;

  /** The limits of a reply's tokens; the first that is there counts. */
  private static final List<BodyField> OUTPUT_LIMITS =
      List.of(BodyField.MAX_COMPLETION_TOKENS, BodyField.MAX_TOKENS, BodyField.MAX_OUTPUT_TOKENS);

  private final byte[] bytes;
  private final int offset;
  private final int length;
  private final EnumMap<BodyField, JsonMember> fields;
  private final EnumMap<NestedField, JsonMember> nested;
  private final int members;
  private final ScannedPrompt prompt;

  BodyScan(
      byte[] bytes,
      int offset,
      int length,
      EnumMap<BodyField, JsonMember> fields,
      EnumMap<NestedField, JsonMember> nested,
      int members,
      Map<BodyField, Form> forms,
      int elements) {
    this.bytes = bytes;
    this.offset = offset;
    this.length = length;
    this.fields = fields;
    this.nested = nested;
    this.members = members;
    this.prompt = new ScannedPrompt(this, forms, elements);
  }

  /**
   * Scans a body. O(bytes).
   *
   * @param bytes an array that holds the body; not copied
   * @param offset index of its first byte
   * @param length its bytes
   * @return what the body asks for
   * @throws InvalidBodyException if the body is not a valid JSON object, or a field is repeated,
   *     has a wrong type or is too long
   * @throws IndexOutOfBoundsException if the range is outside the array
   */
  public static BodyScan of(byte[] bytes, int offset, int length) throws InvalidBodyException {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    return new BodyScanner(bytes, offset, length).scan();
  }

  /** {@return the model's name; null if there is none} */
  public @Nullable String model() {
    return text(BodyField.MODEL);
  }

  /** {@return whether the body has messages} */
  public boolean isChat() {
    return has(BodyField.MESSAGES);
  }

  /** {@return whether the client asks for a stream of events} */
  public boolean stream() {
    JsonMember stream = member(BodyField.STREAM);
    return stream != null && bytes[stream.value()] == 't';
  }

  /** {@return whether the client asks for the number of tokens at the end of the stream} */
  public boolean includesUsage() {
    JsonMember usage = nested.get(NestedField.INCLUDE_USAGE);
    return usage != null && bytes[usage.value()] == 't';
  }

  /**
   * {@return the most output tokens for one reply, at least 0; 0 if the body sets no limit}
   *
   * <p>{@code max_completion_tokens} goes before {@code max_tokens}, which goes before {@code
   * max_output_tokens}.
   */
  public int maxOutputTokens() {
    for (int i = 0; i < OUTPUT_LIMITS.size(); i++) {
      BodyField field = OUTPUT_LIMITS.get(i);
      if (member(field) != null) {
        return Math.max(integer(field, 0), 0);
      }
    }
    return 0;
  }

  /**
   * {@return the largest of the limits of output tokens, since endpoints obey different ones; 0 if
   * the body has none}
   */
  public int largestOutputLimit() {
    int largest = 0;
    for (int i = 0; i < OUTPUT_LIMITS.size(); i++) {
      largest = Math.max(largest, integer(OUTPUT_LIMITS.get(i), 0));
    }
    return largest;
  }

  /** {@return the number of replies to generate, at least 1; 1 if the body has none} */
  public int n() {
    return Math.max(integer(BodyField.N, 1), 1);
  }

  /** {@return the priority, saturated at 32 bits; 0 if there is none} */
  public int priority() {
    return integer(BodyField.PRIORITY, 0);
  }

  /** {@return the client's user; null if there is none} */
  public @Nullable String user() {
    return text(BodyField.USER);
  }

  /** {@return the salt of cached blocks; null if there is none} */
  public @Nullable String cacheSalt() {
    return text(BodyField.CACHE_SALT);
  }

  /**
   * {@return the LoRA adapter that {@code lora_path} names, or the beginning of its JSON where it
   * is no text, a long one or no Unicode; null if there is none}
   */
  public @Nullable String adapter() {
    JsonMember member = member(BodyField.LORA_PATH);
    if (member == null) {
      return null;
    }
    String name = isShortText(member) ? member.text(bytes) : null;
    if (name == null || hasLoneSurrogate(name)) {
      int most = Math.min(member.end() - member.value(), BodyField.Type.TEXT.maxBytes);
      return new String(bytes, member.value(), most, StandardCharsets.UTF_8);
    }
    return name.isEmpty() ? null : name;
  }

  /** {@return the response that this request continues; null if there is none} */
  public @Nullable String previousResponseId() {
    return text(BodyField.PREVIOUS_RESPONSE_ID);
  }

  /** {@return the stored file whose requests a batch runs; null if there is no short text} */
  public @Nullable String inputFileId() {
    JsonMember member = member(BodyField.INPUT_FILE_ID);
    return member != null && isShortText(member) ? member.text(bytes) : null;
  }

  private boolean isShortText(JsonMember member) {
    return bytes[member.value()] == '"'
        && member.end() - member.value() <= BodyField.Type.TEXT.maxBytes;
  }

  /**
   * {@return whether a text has half of a pair of surrogates, so that it is no Unicode}
   *
   * @param text the text
   */
  public static boolean hasLoneSurrogate(String text) {
    return text.codePoints()
        .anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
  }

  /**
   * {@return the first stored file in an input of the Responses API; null if there is none. O(bytes
   * of the input) on each call}
   */
  public @Nullable String firstInputFile() {
    return new InputFiles(this).first();
  }

  /** {@return the name of requests that share a prefix; null if there is none} */
  public @Nullable String promptCacheKey() {
    return text(BodyField.PROMPT_CACHE_KEY);
  }

  /** {@return the name of the conversation in {@code conversation_params}, never blank, or null} */
  @Nullable String conversationId() {
    return text(NestedField.CONVERSATION_ID);
  }

  /** {@return the conversation of a sub-agent's parent in {@code conversation_params}, or null} */
  @Nullable String subagentAffinityId() {
    return text(NestedField.SUBAGENT_AFFINITY_ID);
  }

  /** {@return the name of the conversation in {@code client_metadata}, or null} */
  @Nullable String threadId() {
    return text(NestedField.THREAD_ID);
  }

  /** {@return the name of the session in {@code client_metadata}, or null} */
  @Nullable String sessionId() {
    return text(NestedField.SESSION_ID);
  }

  /** {@return {@code metadata.user_id}; null if it is no text, or too long for an id} */
  @Nullable String metadataUserId() {
    JsonMember member = nested.get(NestedField.USER_ID);
    return member == null
            || bytes[member.value()] != '"'
            || member.end() - member.value() > BodyField.Type.TEXT.maxBytes
        ? null
        : member.text(bytes);
  }

  /**
   * Whether a field is there and not null.
   *
   * @param field the field
   * @return whether the body has it
   */
  public boolean has(BodyField field) {
    return member(field) != null;
  }

  /**
   * Whether a field is false.
   *
   * @param field the field
   * @return whether the body has it, as false
   */
  public boolean isFalse(BodyField field) {
    JsonMember member = member(field);
    return member != null && bytes[member.value()] == 'f';
  }

  /**
   * Whether a field is a text.
   *
   * @param field the field
   * @return whether the body has it, as a string
   */
  public boolean isText(BodyField field) {
    JsonMember member = member(field);
    return member != null && bytes[member.value()] == '"';
  }

  /**
   * The tokens in a field. O(bytes) on each call.
   *
   * @param field the field
   * @return one list for each prompt; null if the field is missing or has anything but an array of
   *     tokens or an array of such arrays
   */
  public @Nullable List<int[]> tokens(BodyField field) {
    return new PromptReader(this).tokens(field);
  }

  /** {@return the prompt of this body, not decoded yet} */
  public ScannedPrompt prompt() {
    return prompt;
  }

  private @Nullable String text(BodyField field) {
    JsonMember member = member(field);
    return member == null ? null : member.text(bytes);
  }

  private @Nullable String text(NestedField field) {
    JsonMember member = nested.get(field);
    return member == null || member.isNull(bytes) ? null : member.text(bytes);
  }

  private int integer(BodyField field, int otherwise) {
    JsonMember member = member(field);
    if (member == null) {
      return otherwise;
    }
    return (int) number(bytes, member.value(), member.end()); // saturates
  }

  /** {@return a number that {@link JsonCursor} has checked} */
  static double number(byte[] bytes, int from, int to) {
    return Double.parseDouble(new String(bytes, from, to - from, StandardCharsets.US_ASCII));
  }

  /** {@return a field that is not null; null if there is none} */
  @Nullable JsonMember member(BodyField field) {
    JsonMember member = fields.get(field);
    return member == null || member.isNull(bytes) ? null : member;
  }

  /** {@return all fields, including those that are null} */
  Map<BodyField, JsonMember> fields() {
    return fields;
  }

  /** {@return {@code stream_options.include_usage}, which can be null; null if it is missing} */
  @Nullable JsonMember includeUsage() {
    return nested.get(NestedField.INCLUDE_USAGE);
  }

  /** {@return the array that holds the body} */
  byte[] bytes() {
    return bytes;
  }

  /** {@return index of the body's first byte} */
  int offset() {
    return offset;
  }

  /** {@return the body's size in bytes} */
  public int length() {
    return length;
  }

  /** {@return the number of the body's members} */
  int members() {
    return members;
  }
}
