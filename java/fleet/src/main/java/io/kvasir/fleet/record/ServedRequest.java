package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.io.SerializedString;
import io.kvasir.model.Checks;
import java.io.IOException;
import java.math.BigDecimal;
import org.jspecify.annotations.Nullable;

/**
 * A request that was served, in recording form. It names the blocks of the prompt and has no text
 * and no tokens. It is recorded at its end. Immutable; the names are not copied.
 *
 * @param model the model that it asked for
 * @param worker the worker that served it
 * @param dpRank the worker's rank, at least 0; negative if unknown
 * @param conversation names its conversation; null if it has none
 * @param tookMs milliseconds from its arrival to its end
 * @param firstTokenMs milliseconds from its arrival to its first data; negative if unknown
 * @param inputTokens tokens of its prompt, at least 1
 * @param outputTokens tokens of its answer, at least 0
 * @param cachedTokens prompt tokens that the engine had cached, by its own usage; negative if it
 *     stated none
 * @param matchedTokens prompt tokens that the router expected there, at least 0
 * @param form what its blocks are of
 * @param tokensPerBlock tokens in a block, at least 1
 * @param blocks names of its full blocks; each covers all blocks before it too
 * @param known how many of them, from the first on, earlier requests of the recording have under
 *     the same model, 0 to all; only the name of the last one is written again
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
public record ServedRequest(
    String model,
    String worker,
    int dpRank,
    @Nullable String conversation,
    double tookMs,
    double firstTokenMs,
    int inputTokens,
    int outputTokens,
    int cachedTokens,
    long matchedTokens,
    Form form,
    int tokensPerBlock,
    long[] blocks,
    int known)
    implements JsonEvent {

  /** What blocks are of. */
  public enum Form {
    /** The tokens of the prompt. */
    TOKENS("tokens"),
    /** Its text, four bytes of UTF-8 to a token, where its tokens are unknown. */
    TEXT("text");

    private final String id;

    Form(String id) {
      this.id = id;
    }

    /** {@return the name in recordings} */
    public String id() {
      return id;
    }
  }

  /** Most tokens of a prompt and of an answer. */
  public static final int MAX_TOKENS = 1 << 24;

  /** The operation's name, which is the first field. */
  static final String OP = "request";

  private static final int OBJECT_BYTES = 256;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public ServedRequest {
    Checks.within("inputTokens", inputTokens, 1, MAX_TOKENS);
    Checks.within("outputTokens", outputTokens, 0, MAX_TOKENS);
    Checks.within("tokensPerBlock", tokensPerBlock, 1, MAX_TOKENS);
    if (!(tookMs >= 0 && tookMs <= RecordedEvent.MAX_TIMESTAMP_MS)) {
      throw new IllegalArgumentException(
          "tookMs must be 0 to " + RecordedEvent.MAX_TIMESTAMP_MS + ", not " + tookMs);
    }
    if (blocks.length > inputTokens / tokensPerBlock) {
      throw new IllegalArgumentException(
          "blocks must be at most "
              + inputTokens / tokensPerBlock
              + " for inputTokens "
              + inputTokens
              + " at "
              + tokensPerBlock
              + " tokens a block, not "
              + blocks.length);
    }
    Checks.within("known", known, 0, blocks.length);
  }

  /**
   * {@return the same request with other blocks known}
   *
   * @param count how many, from the first on
   */
  public ServedRequest withKnown(int count) {
    return new ServedRequest(
        model,
        worker,
        dpRank,
        conversation,
        tookMs,
        firstTokenMs,
        inputTokens,
        outputTokens,
        cachedTokens,
        matchedTokens,
        form,
        tokensPerBlock,
        blocks,
        count);
  }

  @Override
  public int queuedBytes() {
    return OBJECT_BYTES + blocks.length * Long.BYTES;
  }

  @Override
  public void writeTo(JsonGenerator json) throws IOException {
    json.writeStartObject();
    text(json, Names.OP, OP);
    text(json, Names.MODEL, model);
    text(json, Names.WORKER, worker);
    if (dpRank >= 0) {
      number(json, Names.DP_RANK, dpRank);
    }
    if (conversation != null) {
      text(json, Names.CONVERSATION, conversation);
    }
    millis(json, Names.TOOK_MS, tookMs);
    if (firstTokenMs >= 0) {
      millis(json, Names.FIRST_TOKEN_MS, firstTokenMs);
    }
    number(json, Names.INPUT_TOKENS, inputTokens);
    number(json, Names.OUTPUT_TOKENS, outputTokens);
    if (cachedTokens >= 0) {
      number(json, Names.CACHED_TOKENS, cachedTokens);
    }
    number(json, Names.MATCHED_TOKENS, matchedTokens);
    text(json, Names.BLOCKS_OF, form.id());
    number(json, Names.TOKENS_PER_BLOCK, tokensPerBlock);
    if (known > 0) {
      number(json, Names.BEHIND, blocks[known - 1]);
    }
    json.writeFieldName(Names.BLOCKS);
    byte[] names = BlockNames.bytes(blocks, known);
    json.writeBinary(BlockNames.BASE64, names, 0, names.length);
    json.writeEndObject();
  }

  private static void text(JsonGenerator json, SerializedString name, String value)
      throws IOException {
    json.writeFieldName(name);
    json.writeString(value);
  }

  private static void number(JsonGenerator json, SerializedString name, long value)
      throws IOException {
    json.writeFieldName(name);
    json.writeNumber(value);
  }

  /** Microseconds are precise enough; a decimal of them is cheaper to write than a double. */
  private static void millis(JsonGenerator json, SerializedString name, double ms)
      throws IOException {
    json.writeFieldName(name);
    json.writeNumber(BigDecimal.valueOf(Math.round(ms * 1e3), 3));
  }

  /** Names of fields, encoded once. */
  private static final class Names {
    static final SerializedString OP = new SerializedString("op");
    static final SerializedString MODEL = new SerializedString("model");
    static final SerializedString WORKER = new SerializedString("worker");
    static final SerializedString DP_RANK = new SerializedString("dpRank");
    static final SerializedString CONVERSATION = new SerializedString("conversation");
    static final SerializedString TOOK_MS = new SerializedString("tookMs");
    static final SerializedString FIRST_TOKEN_MS = new SerializedString("firstTokenMs");
    static final SerializedString INPUT_TOKENS = new SerializedString("inputTokens");
    static final SerializedString OUTPUT_TOKENS = new SerializedString("outputTokens");
    static final SerializedString CACHED_TOKENS = new SerializedString("cachedTokens");
    static final SerializedString MATCHED_TOKENS = new SerializedString("matchedTokens");
    static final SerializedString BLOCKS_OF = new SerializedString("blocksOf");
    static final SerializedString TOKENS_PER_BLOCK = new SerializedString("tokensPerBlock");
    static final SerializedString BEHIND = new SerializedString("behind");
    static final SerializedString BLOCKS = new SerializedString("blocks");

    private Names() {}
  }
}
