package io.kvasir.gateway.openai;

import java.util.EnumSet;
import java.util.Set;

/**
 * Whether a body has only fields that are known to leave an engine's tokens of the prompt as they
 * are. A field that is not on the list may change them: {@code truncate_prompt_tokens} of vLLM cuts
 * the prompt, for example. Stateless.
 */
public final class PlainFields {

  private static final Set<BodyField> READ =
      EnumSet.of(
          BodyField.MODEL,
          BodyField.STREAM,
          BodyField.STREAM_OPTIONS,
          BodyField.MESSAGES,
          BodyField.PROMPT,
          BodyField.INPUT,
          BodyField.SYSTEM,
          BodyField.MAX_COMPLETION_TOKENS,
          BodyField.MAX_TOKENS,
          BodyField.MAX_OUTPUT_TOKENS,
          BodyField.N,
          BodyField.USER,
          BodyField.PROMPT_CACHE_KEY,
          BodyField.CONVERSATION_PARAMS,
          BodyField.CLIENT_METADATA,
          BodyField.METADATA,
          BodyField.PRIORITY);

  /** Fields that the gateway does not read, of OpenAI's API and the engines: how to sample. */
  private enum Sampling {
    BEST_OF,
    FREQUENCY_PENALTY,
    IGNORE_EOS,
    LENGTH_PENALTY,
    LOGIT_BIAS,
    LOGPROBS,
    MIN_P,
    MIN_TOKENS,
    PRESENCE_PENALTY,
    REPETITION_PENALTY,
    SAFETY_IDENTIFIER,
    SEED,
    SERVICE_TIER,
    SKIP_SPECIAL_TOKENS,
    SPACES_BETWEEN_SPECIAL_TOKENS,
    STOP,
    STOP_SEQUENCES,
    STOP_TOKEN_IDS,
    STORE,
    TEMPERATURE,
    TOP_K,
    TOP_LOGPROBS,
    TOP_P,
    USE_BEAM_SEARCH;

    static final NameTable<Sampling> TABLE = new NameTable<>(Sampling.class);
  }

  private PlainFields() {}

  /**
   * Looks at the keys of a body. O(bytes), without decoding values.
   *
   * @param body the body
   * @return whether all of its fields are on the list; one that is null counts as absent only if
   *     the gateway reads it
   */
  public static boolean areAllOf(BodyScan body) {
    for (BodyField field : BodyField.values()) {
      if (body.has(field) && !READ.contains(field)) {
        return false;
      }
    }
    JsonCursor json = new JsonCursor();
    json.reset(body.bytes(), body.offset(), body.offset() + body.length());
    try {
      json.beginObject();
      while (json.nextKey()) {
        if (BodyField.TABLE.find(json) == null && Sampling.TABLE.find(json) == null) {
          return false;
        }
        json.skip();
      }
    } catch (JsonException e) {
      throw new AssertionError("a scanned body is valid", e);
    }
    return true;
  }
}
