package io.kvasir.gateway.openai;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;

/**
 * The tokens of a request as the engine counted them. Immutable.
 *
 * @param inputTokens tokens of the prompt, cached ones included; -1 if unknown
 * @param outputTokens tokens generated; -1 if unknown
 * @param cachedTokens tokens of the prompt whose KV blocks were reused; -1 if unknown
 */
public record Usage(int inputTokens, int outputTokens, int cachedTokens) {

  /** The usage of a reply that states none. */
  public static final Usage UNKNOWN = new Usage(-1, -1, -1);

  /**
   * Combines two parts of one stream. A part of Anthropic's API may count the cached tokens that
   * the other part leaves out of the prompt, so the larger prompt counts, and one below its cached
   * tokens does not include them.
   *
   * @param later the later part
   * @return its numbers, and these where the later part has none
   */
  public Usage then(Usage later) {
    int cached = later.cachedTokens < 0 ? cachedTokens : later.cachedTokens;
    int input = Math.max(inputTokens, later.inputTokens);
    if (input >= 0 && input < cached) {
      input = (int) Math.min((long) input + cached, Integer.MAX_VALUE);
    }
    return new Usage(input, later.outputTokens < 0 ? outputTokens : later.outputTokens, cached);
  }

  /**
   * The same usage with another number of cached tokens.
   *
   * @param tokens the number, at least 0
   * @return the usage
   */
  public Usage withCachedTokens(long tokens) {
    return new Usage(inputTokens, outputTokens, (int) Math.min(tokens, Integer.MAX_VALUE));
  }

  /**
   * Adds the usage of another answer.
   *
   * @param other the other answer's
   * @return the sums of the numbers; one that is unknown in both stays unknown
   */
  public Usage plus(Usage other) {
    return new Usage(
        sum(inputTokens, other.inputTokens),
        sum(outputTokens, other.outputTokens),
        sum(cachedTokens, other.cachedTokens));
  }

  private static int sum(int a, int b) {
    return a < 0 || b < 0 ? Math.max(a, b) : (int) Math.min((long) a + b, Integer.MAX_VALUE);
  }

  /**
   * Reads the usage in a complete reply of the OpenAI, Responses, Anthropic or SGLang's own API; of
   * a batch, the sum. O(bytes).
   *
   * @param reply the body; neither consumed nor released
   * @return the usage; {@link #UNKNOWN} if the reply has none or is not valid JSON
   */
  public static Usage of(ByteBuf reply) {
    int length = reply.readableBytes();
    if (reply.hasArray()) {
      int from = reply.arrayOffset() + reply.readerIndex();
      return new SseEventReader().readUsage(reply.array(), from, from + length);
    }
    return new SseEventReader().readUsage(ByteBufUtil.getBytes(reply), 0, length);
  }
}
