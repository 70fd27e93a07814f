package io.kvasir.embedded.api;

import io.kvasir.model.CacheScope;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a request asks of the generation, in the same terms for all endpoints.
 *
 * <p>Immutable.
 *
 * @param maxTokens most tokens of each choice, at least 1; 0 if the request leaves it to the engine
 * @param minTokens tokens before which a choice neither ends by itself nor at a stop string
 * @param ignoreEos whether a choice goes on to {@code maxTokens} instead of ending by itself
 * @param stops strings that end a choice and are not part of it
 * @param choices choices for each prompt, at least 1
 * @param seed the request's seed; 0 if it has none
 * @param placement where and when it should run
 */
public record GenerationOptions(
    int maxTokens,
    int minTokens,
    boolean ignoreEos,
    List<String> stops,
    int choices,
    long seed,
    Placement placement) {

  /**
   * These options, of an endpoint whose replies have one choice.
   *
   * @throws ApiError if there are more
   */
  public GenerationOptions requireOneChoice() {
    if (choices > 1) {
      throw ApiError.unsupported("n", "n must be 1 here, not " + choices);
    }
    return this;
  }

  /** These options with another maximum. */
  public GenerationOptions withMaxTokens(int tokens) {
    return new GenerationOptions(tokens, minTokens, ignoreEos, stops, choices, seed, placement);
  }

  /** These options for one rank only. */
  public GenerationOptions withTargetRank(int rank) {
    Placement to =
        new Placement(
            rank,
            placement.conversationId,
            placement.subagentAffinityId,
            placement.firstTurn,
            placement.salt,
            placement.scope,
            placement.priority);
    return new GenerationOptions(maxTokens, minTokens, ignoreEos, stops, choices, seed, to);
  }

  /**
   * Where and when a request should run.
   *
   * @param targetRank the only rank that may run it, or {@link io.kvasir.model.Request#ANY_RANK}
   * @param conversationId its conversation; null if unknown
   * @param subagentAffinityId the conversation of the parent of a sub-agent; null if unknown
   * @param firstTurn whether the conversation is known to start with this request
   * @param salt the salt of its blocks; null if it has none
   * @param scope the scope of its blocks, with the salt
   * @param priority its priority; higher values are served first
   */
  public record Placement(
      int targetRank,
      @Nullable String conversationId,
      @Nullable String subagentAffinityId,
      boolean firstTurn,
      @Nullable String salt,
      CacheScope scope,
      double priority) {}
}
