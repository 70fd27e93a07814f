package io.kvasir.fleet.router.trtllm;

import io.kvasir.model.Checks;

/**
 * Settings of the {@code conversation} fleet router, by TensorRT-LLM's names and defaults.
 *
 * <p>Immutable.
 *
 * @param matchThreshold share of a prompt's blocks, reached or exceeded, that a conversation must
 *     share with a request that names none
 * @param tokensPerBlock tokens, or characters of a text, in a block
 * @param useTokenIds whether texts are tokenised before they are compared
 * @param hashSkipCount leading tokens that are not compared, five characters each in a text
 * @param maxSessions conversations remembered
 * @param disaggNodeId number of this process in the ids that it makes up
 */
public record ConversationRouterOptions(
    double matchThreshold,
    int tokensPerBlock,
    boolean useTokenIds,
    int hashSkipCount,
    int maxSessions,
    int disaggNodeId) {

  /** TensorRT-LLM's defaults: 0.75, 128, false, 0, 100,000, 0. */
  public static final ConversationRouterOptions DEFAULT =
      new ConversationRouterOptions(0.75, 128, false, 0, 100_000, 0);

  /**
   * Checks the bounds.
   *
   * @throws IllegalArgumentException naming the key that is out of range, what is allowed and what
   *     was given
   */
  public ConversationRouterOptions {
    Checks.within("match_threshold", matchThreshold, 0, 1);
    Checks.atLeast("tokens_per_block", tokensPerBlock, 1);
    Checks.atLeast("hash_skip_count", hashSkipCount, 0);
    Checks.atLeast("max_sessions", maxSessions, 1);
    Checks.atLeast("disagg_node_id", disaggNodeId, 0);
  }
}
