package io.kvasir.gateway.disagg;

import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How requests are split between workers of role prefill and decode. Immutable.
 *
 * @param style which part TensorRT-LLM's workers are sent first; for other engines it follows from
 *     the dialect
 * @param maxLocalPrefillTokens most missing tokens of a prompt that a worker of role decode
 *     computes itself; -1 if not set
 * @param nodeId the number of this gateway among those in front of the same workers, 0 to {@link
 *     #MAX_NODE_ID}
 * @param authKey signs what TensorRT-LLM's generation servers are sent; null for no signature
 * @param prefillRouter the router among workers of role prefill
 * @param decodeRouter the router among workers of role decode
 * @param prefillTimeoutMs limit for the prefill part of a request, at most {@link
 *     #MAX_PREFILL_TIMEOUT_MS}
 * @param trustKvParams whether clients may send parameters of transfers
 * @param nixlBothWays whether prefill workers of vLLM's NIXL get the KV of earlier answers
 */
public record DisaggSettings(
    Style style,
    long maxLocalPrefillTokens,
    int nodeId,
    @Nullable SigningKey authKey,
    RouterChoice prefillRouter,
    RouterChoice decodeRouter,
    int prefillTimeoutMs,
    boolean trustKvParams,
    boolean nixlBothWays) {

  /** The largest number of a gateway. */
  public static final int MAX_NODE_ID = 1_023;

  /** Engines give a transfer up after 300 s, and a gateway must do so before them. */
  public static final int MAX_PREFILL_TIMEOUT_MS = 290_000;

  /** No conditions, keys or trust; routers are chosen by what engines publish. */
  public static final DisaggSettings DEFAULTS =
      new DisaggSettings(
          Style.CONTEXT_FIRST,
          -1,
          0,
          null,
          new RouterChoice(RouterChoice.AUTO, Map.of()),
          new RouterChoice(RouterChoice.AUTO, Map.of()),
          120_000,
          false,
          false);

  /**
   * Checks the numbers.
   *
   * @throws IllegalArgumentException naming the number that is out of its range
   */
  public DisaggSettings {
    if (maxLocalPrefillTokens < -1) {
      throw new IllegalArgumentException(
          "maxLocalPrefillTokens must be at least -1, not " + maxLocalPrefillTokens);
    }
    if (nodeId < 0 || nodeId > MAX_NODE_ID) {
      throw new IllegalArgumentException("nodeId must be 0 to " + MAX_NODE_ID + ", not " + nodeId);
    }
    if (prefillTimeoutMs < 1 || prefillTimeoutMs > MAX_PREFILL_TIMEOUT_MS) {
      throw new IllegalArgumentException(
          "prefillTimeoutMs must be 1 to " + MAX_PREFILL_TIMEOUT_MS + ", not " + prefillTimeoutMs);
    }
  }
}
