package io.kvasir.engine.adp;

import io.kvasir.model.Checks;
import io.kvasir.model.Request;

/**
 * The blocks that a rank's capacity policy requires before a request starts.
 *
 * <p>Immutable.
 *
 * @param tokensPerBlock tokens of a block, at least 1
 * @param reservesOutput whether the whole output must fit at the start (GUARANTEED_NO_EVICT);
 *     otherwise only the prompt must fit
 */
public record BlockDemand(int tokensPerBlock, boolean reservesOutput) {

  /**
   * Checks the range.
   *
   * @throws IllegalArgumentException if {@code tokensPerBlock} is below 1
   */
  public BlockDemand {
    Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
  }

  /**
   * Blocks of one request, including those that may be cached already. The KV of the last output
   * token is never needed. Children need no blocks of their own.
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
