package io.kvasir.gateway.openai;

import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.PromptSource.Form;
import io.kvasir.fleet.router.TextSink;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The prompt of a scanned body: which of its fields has it, how large it is, and what it says,
 * which is decoded on each call.
 *
 * <p>Immutable by contract, as its body is. Thread-safe.
 */
public final class ScannedPrompt {

  /** In this order, the first that is there. */
  private static final List<BodyField> PROMPTS =
      List.of(BodyField.MESSAGES, BodyField.PROMPT, BodyField.INPUT);

  private static final List<BodyField> TOKENS = List.of(BodyField.INPUT_IDS, BodyField.TOKEN_IDS);

  /** Bytes of objects that decoding makes of one text, message or list, at most. */
  private static final int BYTES_PER_PART = 96;

  private final BodyScan body;
  private final Map<BodyField, Form> forms;
  private final int elements;

  /**
   * The prompt of a body.
   *
   * @param forms what the fields with texts or tokens have
   * @param elements texts, messages, parts and lists in the fields that are decoded
   */
  ScannedPrompt(BodyScan body, Map<BodyField, Form> forms, int elements) {
    this.body = body;
    this.forms = forms;
    this.elements = elements;
  }

  /**
   * Builds what the client asks for, from {@code messages}, {@code prompt} or {@code input}, the
   * first that is there, or else from a {@code text}, or tokens in {@code input_ids} or {@code
   * token_ids}. {@code system} is the first message of a chat. Of a message, the texts of all parts
   * count, joined by line feeds. O(bytes) on each call.
   *
   * @return the prompt; null if the body has none or {@code input} has an unknown form
   */
  public @Nullable Prompt decode() {
    return new PromptReader(body).read();
  }

  /**
   * {@return the form of the prompt, without decoding it; null where {@link #decode} returns null}
   */
  public @Nullable Form form() {
    BodyField field = field();
    return field == null ? null : forms.get(field);
  }

  /**
   * Passes on each text of the prompt; a chat is one text, the one of {@link Prompt#text()}.
   * O(bytes) on each call, and no memory.
   *
   * @param sink receives the texts, at least one
   * @return whether some message of a chat is an answer of the model
   * @throws IllegalStateException if there is no prompt, or it has tokens
   */
  public boolean forEachText(TextSink sink) {
    return new PromptText(body, sink).read();
  }

  /**
   * {@return the most bytes of memory that {@link #decode} and {@link BodyScan#tokens} take; known
   * without decoding}
   */
  public long decodedBytes() {
    long sum = 0;
    for (BodyField field : BodyField.DECODED) {
      sum += valueBytes(field);
    }
    return 2 * sum + (long) BYTES_PER_PART * elements;
  }

  /**
   * Whether the prompt has parts that {@link #decode} leaves out, such as images. O(bytes) on each
   * call, without decoding texts.
   *
   * @return whether some part of a message, or some item of {@code input}, is not a text
   */
  public boolean hasOtherContent() {
    return new PromptReader(body).hasOtherContent();
  }

  /** {@return the number of prompts, at least 1; 1 for a chat. O(bytes) on each call} */
  public int count() {
    return new PromptReader(body).prompts();
  }

  /**
   * {@return the size in bytes of the values that make the prompt: {@code messages}, {@code prompt}
   * or {@code input}, and the system prompt and tools of a chat}
   */
  public int bytes() {
    BodyField field = field();
    if (field == null) {
      return 0;
    }
    int bytes = valueBytes(field);
    boolean chat = field == BodyField.MESSAGES || field == BodyField.INPUT;
    return chat
        ? bytes
            + valueBytes(BodyField.SYSTEM)
            + valueBytes(BodyField.INSTRUCTIONS)
            + valueBytes(BodyField.TOOLS)
        : bytes;
  }

  /**
   * {@return an estimate of its tokens: a quarter of {@link #bytes}, and {@value
   * OtherContent#TOKENS} for each image, sound, video or file instead of its bytes. O(bytes) on
   * each call}
   */
  public long estimatedTokens() {
    OtherContent other = OtherContent.of(body);
    return (bytes() - other.bytes() + 3L) / 4 + OtherContent.TOKENS * other.count();
  }

  private int valueBytes(BodyField field) {
    JsonMember member = body.member(field);
    return member == null ? 0 : member.end() - member.value();
  }

  /** {@return the field that has the prompt; null if there is none} */
  @Nullable BodyField field() {
    for (BodyField field : PROMPTS) {
      if (body.has(field)) {
        return field;
      }
    }
    if (forms.get(BodyField.TEXT) == Form.TEXTS) {
      return BodyField.TEXT;
    }
    for (BodyField field : TOKENS) {
      if (forms.get(field) == Form.TOKENS) {
        return field;
      }
    }
    return null;
  }
}
