package io.kvasir.fleet.router;

import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Checks;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Collects the parts of a {@link FleetRequest}. Not thread-safe. */
public final class FleetRequestBuilder {

  final long id;
  final PromptSource prompt;
  int @Nullable [] promptTokenIds;
  @Nullable List<int[]> tokens;
  int inputTokens = -1;
  CacheScope scope = CacheScope.NONE;
  @Nullable String conversationId;
  @Nullable String subagentAffinityId;
  boolean generationOnly;
  long prefilledBy = FleetRequest.NO_WORKER;
  RankFilter filter = RankFilter.ANY;
  CostOverrides overrides = CostOverrides.NONE;
  int expectedOutputTokens;
  int strictPriority;
  double priorityJump;
  LatencyTargets targets = LatencyTargets.NONE;
  boolean streams = true;
  final Map<PromptBlocks.Naming, BlockHashes> hashes = new HashMap<>();

  FleetRequestBuilder(long id, PromptSource prompt) {
    this.id = id;
    this.prompt = Objects.requireNonNull(prompt, "prompt");
  }

  /**
   * Sets {@link FleetRequest#promptTokenIds()}.
   *
   * @param value the tokens that the client sent, or null; not copied
   * @return this builder
   */
  public FleetRequestBuilder promptTokenIds(int @Nullable [] value) {
    this.promptTokenIds = value;
    return this;
  }

  /**
   * Sets the tokens that the caller made of the prompt's text; the client's own go before them.
   *
   * @param value one list for each prompt, or null; the arrays are not copied
   * @return this builder
   */
  public FleetRequestBuilder tokens(@Nullable List<int[]> value) {
    this.tokens = value == null ? null : List.copyOf(value);
    return this;
  }

  /**
   * Sets {@link FleetRequest#inputTokens()} where it is known without the tokens.
   *
   * @param value at least 0
   * @return this builder
   */
  public FleetRequestBuilder inputTokens(int value) {
    this.inputTokens = value;
    return this;
  }

  /**
   * Sets hashes that the caller has computed already.
   *
   * @param format how blocks are named
   * @param tokensPerBlock tokens in a block
   * @param value the hashes of the first prompt's full blocks; not copied
   * @return this builder
   */
  public FleetRequestBuilder hashes(HashFormat format, int tokensPerBlock, BlockHashes value) {
    hashes.put(new PromptBlocks.Naming(format, tokensPerBlock), value);
    return this;
  }

  /**
   * Sets {@link FleetRequest#scope()}.
   *
   * @param value the scope
   * @return this builder
   */
  public FleetRequestBuilder scope(CacheScope value) {
    this.scope = Objects.requireNonNull(value, "scope");
    return this;
  }

  /**
   * Sets {@link FleetRequest#conversationId()}.
   *
   * @param value the id; blank counts as null
   * @return this builder
   */
  public FleetRequestBuilder conversationId(@Nullable String value) {
    this.conversationId = value == null || value.isBlank() ? null : value;
    return this;
  }

  /**
   * Sets the conversation of the parent of a sub-agent, which then is {@link
   * FleetRequest#affinityId()}.
   *
   * @param value its id; blank counts as null
   * @return this builder
   */
  public FleetRequestBuilder subagentAffinityId(@Nullable String value) {
    this.subagentAffinityId = value == null || value.isBlank() ? null : value;
    return this;
  }

  /**
   * Sets {@link FleetRequest#generationOnly()}.
   *
   * @param value whether the context was computed elsewhere
   * @return this builder
   */
  public FleetRequestBuilder generationOnly(boolean value) {
    this.generationOnly = value;
    return this;
  }

  /**
   * Sets {@link FleetRequest#prefilledBy()}.
   *
   * @param workerId the worker's id; {@link FleetRequest#NO_WORKER} for none
   * @return this builder
   */
  public FleetRequestBuilder prefilledBy(long workerId) {
    this.prefilledBy = workerId;
    return this;
  }

  /**
   * Sets {@link FleetRequest#filter()}.
   *
   * @param value the filter
   * @return this builder
   */
  public FleetRequestBuilder filter(RankFilter value) {
    this.filter = Objects.requireNonNull(value, "filter");
    return this;
  }

  /**
   * Sets {@link FleetRequest#overrides()}.
   *
   * @param value the overrides
   * @return this builder
   */
  public FleetRequestBuilder overrides(CostOverrides value) {
    this.overrides = Objects.requireNonNull(value, "overrides");
    return this;
  }

  /**
   * Sets {@link FleetRequest#expectedOutputTokens()}.
   *
   * @param value at least 0
   * @return this builder
   */
  public FleetRequestBuilder expectedOutputTokens(int value) {
    this.expectedOutputTokens = value;
    return this;
  }

  /**
   * Sets {@link FleetRequest#strictPriority()}.
   *
   * @param value a higher class goes first
   * @return this builder
   */
  public FleetRequestBuilder strictPriority(int value) {
    this.strictPriority = value;
    return this;
  }

  /**
   * Sets {@link FleetRequest#priorityJump()}.
   *
   * @param value finite, at least 0
   * @return this builder
   */
  public FleetRequestBuilder priorityJump(double value) {
    this.priorityJump = value;
    return this;
  }

  /**
   * Sets {@link FleetRequest#targets()}.
   *
   * @param value the times that it asks for
   * @return this builder
   */
  public FleetRequestBuilder targets(LatencyTargets value) {
    this.targets = Objects.requireNonNull(value, "targets");
    return this;
  }

  /**
   * Sets {@link FleetRequest#streams()}.
   *
   * @param value the value; true unless it is set
   * @return this
   */
  public FleetRequestBuilder streams(boolean value) {
    this.streams = value;
    return this;
  }

  /** The prompt's tokens, one list for each prompt; null if they are unknown. */
  @Nullable List<int[]> knownTokens() {
    if (promptTokenIds != null) {
      return List.of(promptTokenIds);
    }
    if (prompt.form() == PromptSource.Form.TOKENS) {
      return prompt instanceof Prompt.Tokens given ? given.sequences() : null;
    }
    return tokens;
  }

  /**
   * Makes the request.
   *
   * @return the request
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public FleetRequest build() {
    Checks.atLeast("inputTokens", inputTokens, -1);
    Checks.atLeast("expectedOutputTokens", expectedOutputTokens, 0);
    Checks.finiteAtLeast0("priorityJump", priorityJump);
    return new FleetRequest(this);
  }
}
