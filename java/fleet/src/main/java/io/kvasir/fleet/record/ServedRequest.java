package io.kvasir.fleet.record;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.model.Checks;
import java.io.IOException;
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
    json.writeStringField("op", OP);
    json.writeStringField("model", model);
    json.writeStringField("worker", worker);
    if (dpRank >= 0) {
      json.writeNumberField("dpRank", dpRank);
    }
    if (conversation != null) {
      json.writeStringField("conversation", conversation);
    }
    writeMs(json, "tookMs", tookMs);
    if (firstTokenMs >= 0) {
      writeMs(json, "firstTokenMs", firstTokenMs);
    }
    json.writeNumberField("inputTokens", inputTokens);
    json.writeNumberField("outputTokens", outputTokens);
    if (cachedTokens >= 0) {
      json.writeNumberField("cachedTokens", cachedTokens);
    }
    json.writeNumberField("matchedTokens", matchedTokens);
    json.writeStringField("blocksOf", form.id());
    json.writeNumberField("tokensPerBlock", tokensPerBlock);
    if (known > 0) {
      json.writeNumberField("behind", blocks[known - 1]);
    }
    json.writeArrayFieldStart("blocks");
    for (int i = known; i < blocks.length; i++) {
      json.writeNumber(blocks[i]);
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  /** Microseconds are precise enough. */
  private static void writeMs(JsonGenerator json, String field, double ms) throws IOException {
    json.writeNumberField(field, Math.round(ms * 1e3) / 1e3);
  }
}
