package io.kvasir.engine.adp;

import io.kvasir.model.Request;

/**
 * How many blocks a rank's capacity policy asks for before it starts a request.
 *
 * <p>Immutable.
 *
 * @param tokensPerBlock tokens of a block, at least 1
 * @param reservesOutput whether room for the whole output must be there at the start
 *     (GUARANTEED_NO_EVICT); otherwise room for the prompt
 */
public record BlockDemand(int tokensPerBlock, boolean reservesOutput) {

  /**
   * Checks the range.
   *
   * @throws IllegalArgumentException if {@code tokensPerBlock} is below 1
   */
  public BlockDemand {
    if (tokensPerBlock < 1) {
      throw new IllegalArgumentException(
          "tokensPerBlock must be at least 1, not " + tokensPerBlock);
    }
  }

  /**
   * Blocks of one request, whatever is cached of it. The KV of the last output token is never
   * needed, and children ask for nothing of their own.
   *
   * @param request the request
   * @return at least 0
   */
  public long blocks(Request request) {
    long tokens = request.promptTokens();
    if (reservesOutput) {
      tokens += request.maxNewTokens() - 1;
    }
    return (tokens + tokensPerBlock - 1) / tokensPerBlock;
  }
}
