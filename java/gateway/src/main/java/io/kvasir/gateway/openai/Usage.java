package io.kvasir.gateway.openai;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;

/**
 * The tokens of a request as the engine counted them. Immutable.
 *
 * @param inputTokens tokens of the prompt; -1 if unknown. Anthropic's own service leaves out those
 *     of its cache
 * @param outputTokens tokens generated; -1 if unknown
 * @param cachedTokens tokens of the prompt whose KV blocks were reused; -1 if unknown
 */
public record Usage(int inputTokens, int outputTokens, int cachedTokens) {

  /** The usage of a reply that states none. */
  public static final Usage UNKNOWN = new Usage(-1, -1, -1);

  /**
   * Combines two parts of one stream.
   *
   * @param later the later part
   * @return its numbers, and these where the later part has none
   */
  public Usage then(Usage later) {
    return new Usage(
        later.inputTokens < 0 ? inputTokens : later.inputTokens,
        later.outputTokens < 0 ? outputTokens : later.outputTokens,
        later.cachedTokens < 0 ? cachedTokens : later.cachedTokens);
  }

  /**
   * Reads the usage in a complete reply of the OpenAI, Responses or Anthropic API. O(bytes).
   *
   * @param reply the body; neither consumed nor released
   * @return the usage; {@link #UNKNOWN} if the reply has none or is not valid JSON
   */
  public static Usage of(ByteBuf reply) {
    int length = reply.readableBytes();
    SseEvent event = new SseEvent(reply);
    if (reply.hasArray()) {
      int from = reply.arrayOffset() + reply.readerIndex();
      new SseEventReader().readJson(event, reply.array(), from, from + length);
    } else {
      new SseEventReader().readJson(event, ByteBufUtil.getBytes(reply), 0, length);
    }
    return event.isValid() ? event.usage() : UNKNOWN;
  }
}
