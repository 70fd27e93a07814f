package io.kvasir.engine.execute;

import io.kvasir.model.Checks;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How a rank runs its requests.
 *
 * <p>Immutable.
 *
 * @param tokenBudget most tokens that one step computes, decoding requests and prefill chunks
 *     together ({@code max_num_tokens})
 * @param maxActiveRequests most requests on a rank ({@code max_batch_size})
 * @param capacityPolicy how blocks are shared
 * @param enableBlockReuse whether requests share computed blocks; if not, no block is committed and
 *     every prompt is computed in full
 * @param kvTransfer how a context rank sends KV. A context rank computes a request up to its first
 *     token and keeps its blocks until they are sent. Null for ranks that generate the answer
 *     themselves
 */
public record ExecutorOptions(
    int tokenBudget,
    int maxActiveRequests,
    CapacityPolicy capacityPolicy,
    boolean enableBlockReuse,
    @Nullable KvTransfer kvTransfer) {

  /** 8,192 tokens a step, 256 requests a rank, GUARANTEED_NO_EVICT, with block reuse. */
  public static final ExecutorOptions DEFAULT =
      new ExecutorOptions(8192, 256, CapacityPolicy.GUARANTEED_NO_EVICT, true);

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public ExecutorOptions {
    Checks.atLeast("tokenBudget", tokenBudget, 1);
    Checks.atLeast("maxActiveRequests", maxActiveRequests, 1);
    Objects.requireNonNull(capacityPolicy, "capacityPolicy");
  }

  /**
   * Options of ranks that generate the answer themselves.
   *
   * @param tokenBudget most tokens that one step computes
   * @param maxActiveRequests most requests on a rank
   * @param capacityPolicy how blocks are shared
   * @param enableBlockReuse whether requests share computed blocks
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public ExecutorOptions(
      int tokenBudget,
      int maxActiveRequests,
      CapacityPolicy capacityPolicy,
      boolean enableBlockReuse) {
    this(tokenBudget, maxActiveRequests, capacityPolicy, enableBlockReuse, null);
  }

  /**
   * These options with another token budget.
   *
   * @param tokens at least 1
   * @return the options
   */
  public ExecutorOptions withTokenBudget(int tokens) {
    return new ExecutorOptions(
        tokens, maxActiveRequests, capacityPolicy, enableBlockReuse, kvTransfer);
  }

  /**
   * These options with another cap of requests.
   *
   * @param requests at least 1
   * @return the options
   */
  public ExecutorOptions withMaxActiveRequests(int requests) {
    return new ExecutorOptions(tokenBudget, requests, capacityPolicy, enableBlockReuse, kvTransfer);
  }

  /**
   * These options with another capacity policy.
   *
   * @param policy the policy
   * @return the options
   */
  public ExecutorOptions withCapacityPolicy(CapacityPolicy policy) {
    return new ExecutorOptions(
        tokenBudget, maxActiveRequests, policy, enableBlockReuse, kvTransfer);
  }

  /**
   * These options with block reuse on or off.
   *
   * @param enabled whether requests share computed blocks
   * @return the options
   */
  public ExecutorOptions withBlockReuse(boolean enabled) {
    return new ExecutorOptions(tokenBudget, maxActiveRequests, capacityPolicy, enabled, kvTransfer);
  }

  /**
   * These options for context ranks.
   *
   * @param transfer how KV is sent; null for ranks that generate the answer themselves
   * @return the options
   */
  public ExecutorOptions withKvTransfer(@Nullable KvTransfer transfer) {
    return new ExecutorOptions(
        tokenBudget, maxActiveRequests, capacityPolicy, enableBlockReuse, transfer);
  }
}
