package io.kvasir.fleet.router;

import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.CacheScope;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a fleet router sees of a request.
 *
 * <p>Immutable by contract: token and hash arrays are not copied and must not be changed.
 * Thread-safe. Hashes are computed when a policy first asks for them, once for each naming and
 * block size, on the asking thread; routers ask outside their locks.
 */
public final class FleetRequest {

  /** No worker. */
  public static final long NO_WORKER = -1;

  private final long id;
  private final PromptSource prompt;
  private final int @Nullable [] promptTokenIds;

  /** Negative where it has to be found in the prompt. */
  private final int inputTokens;

  private final CacheScope scope;
  private final @Nullable String conversationId;
  private final @Nullable String subagentAffinityId;
  private final boolean generationOnly;
  private final long prefilledBy;
  private final RankFilter filter;
  private final CostOverrides overrides;
  private final int expectedOutputTokens;
  private final int strictPriority;
  private final double priorityJump;
  private final LatencyTargets targets;
  private final boolean streams;
  private final PromptBlocks blocks;

  FleetRequest(FleetRequestBuilder builder) {
    this.id = builder.id;
    this.prompt = builder.prompt;
    this.promptTokenIds = builder.promptTokenIds;
    List<int[]> tokens = builder.knownTokens();
    this.inputTokens =
        builder.inputTokens < 0 && tokens != null ? PromptBlocks.size(tokens) : builder.inputTokens;
    this.scope = builder.scope;
    this.conversationId = builder.conversationId;
    this.subagentAffinityId = builder.subagentAffinityId;
    this.generationOnly = builder.generationOnly;
    this.prefilledBy = builder.prefilledBy;
    this.filter = builder.filter;
    this.overrides = builder.overrides;
    this.expectedOutputTokens = builder.expectedOutputTokens;
    this.strictPriority = builder.strictPriority;
    this.priorityJump = builder.priorityJump;
    this.targets = builder.targets;
    this.streams = builder.streams;
    this.blocks = new PromptBlocks(prompt, tokens, scope, conversationId, builder.hashes);
  }

  private FleetRequest(FleetRequest other, RankFilter filter) {
    this.id = other.id;
    this.prompt = other.prompt;
    this.promptTokenIds = other.promptTokenIds;
    this.inputTokens = other.inputTokens;
    this.scope = other.scope;
    this.conversationId = other.conversationId;
    this.subagentAffinityId = other.subagentAffinityId;
    this.generationOnly = other.generationOnly;
    this.prefilledBy = other.prefilledBy;
    this.filter = filter;
    this.overrides = other.overrides;
    this.expectedOutputTokens = other.expectedOutputTokens;
    this.strictPriority = other.strictPriority;
    this.priorityJump = other.priorityJump;
    this.targets = other.targets;
    this.streams = other.streams;
    this.blocks = other.blocks;
  }

  /**
   * Starts a request.
   *
   * @param id the request's id, unique among the requests in flight; also the seed of its
   *     tie-breaks
   * @param prompt the prompt as the client sent it, decoded or not
   * @return a builder without a scope, conversation or filter
   */
  public static FleetRequestBuilder builder(long id, PromptSource prompt) {
    return new FleetRequestBuilder(id, prompt);
  }

  /** {@return the request's id, unique among the requests in flight} */
  public long id() {
    return id;
  }

  /** {@return the prompt as the client sent it; decoded by the first call} */
  public Prompt prompt() {
    return prompt.prompt();
  }

  /** {@return the prompt as the client sent it, for policies that need only a part of it} */
  public PromptSource promptSource() {
    return prompt;
  }

  /** {@return the tokens that the client sent with a chat or text prompt, or null} */
  public int @Nullable [] promptTokenIds() {
    return promptTokenIds;
  }

  /**
   * {@return the prompt's tokens: those the client sent, or else those that the caller made of its
   * text; one list for each prompt; null if the request has no tokens. Decodes a prompt of tokens}
   */
  public @Nullable List<int[]> tokens() {
    return blocks.tokens();
  }

  /**
   * {@return the number of prompt tokens, at least 0; if the request has no tokens and their number
   * was not set, what four bytes of text to a token come to}
   */
  public int inputTokens() {
    return inputTokens >= 0 ? inputTokens : blocks.countTokens();
  }

  /** {@return the LoRA adapter and cache salt} */
  public CacheScope scope() {
    return scope;
  }

  /** {@return the id of the conversation that the request continues or starts, or null} */
  public @Nullable String conversationId() {
    return conversationId;
  }

  /**
   * {@return the id by which conversations are kept on a worker: that of the parent's conversation,
   * if the request is a sub-agent's and names it, else {@link #conversationId()}}
   */
  public @Nullable String affinityId() {
    return subagentAffinityId != null ? subagentAffinityId : conversationId;
  }

  /**
   * {@return whether the context was computed elsewhere; true for the generation part of a
   * disaggregated request}
   */
  public boolean generationOnly() {
    return generationOnly;
  }

  /**
   * {@return the worker that has computed the context, from which its KV comes; {@link #NO_WORKER}
   * if that is unknown or it has not computed it yet}
   */
  public long prefilledBy() {
    return prefilledBy;
  }

  /** {@return the ranks that may serve the request} */
  public RankFilter filter() {
    return filter;
  }

  /** {@return the same request, which any rank may serve; both share the names of its blocks} */
  public FleetRequest anywhere() {
    return filter.equals(RankFilter.ANY) ? this : new FleetRequest(this, RankFilter.ANY);
  }

  /** {@return the cost options that the request sets for itself} */
  public CostOverrides overrides() {
    return overrides;
  }

  /** {@return the number of tokens that are likely to be generated, at least 0; 0 if unknown} */
  public int expectedOutputTokens() {
    return expectedOutputTokens;
  }

  /**
   * {@return the request's class while it waits: a higher class goes first or, under EDF, meets its
   * target rather than a lower one; a request of a negative class may be refused if its targets
   * cannot be met; 0 unless set}
   */
  public int strictPriority() {
    return strictPriority;
  }

  /**
   * {@return how far the request moves forward in its class while it waits: seconds under FCFS, a
   * share of its weight under WSPT; at least 0; 0 unless set}
   */
  public double priorityJump() {
    return priorityJump;
  }

  /** {@return the times that the request asks for, counted from its arrival at the router} */
  public LatencyTargets targets() {
    return targets;
  }

  /**
   * {@return whether tokens are reported as the engine makes them; if not, they are reported with
   * the end of the answer, and the router has to estimate when the prompt has been computed}
   */
  public boolean streams() {
    return streams;
  }

  /**
   * The hashes of the full blocks of the first prompt.
   *
   * @param format how blocks are named
   * @param tokensPerBlock tokens in a block, at least 1
   * @return the hashes; without blocks if the request has no tokens
   */
  public BlockHashes hashes(HashFormat format, int tokensPerBlock) {
    return blocks.hashes(format, tokensPerBlock);
  }

  /**
   * The hashes of the full blocks of the prompts after the first, where a request has several.
   *
   * @param format how blocks are named
   * @param tokensPerBlock tokens in a block, at least 1
   * @return the hashes of each prompt; empty for a single prompt, without tokens, or if the caller
   *     has given the hashes
   */
  public List<BlockHashes> furtherHashes(HashFormat format, int tokensPerBlock) {
    return blocks.furtherHashes(format, tokensPerBlock);
  }

  /**
   * The names of the blocks with which the prompt begins: {@link #hashes} of its tokens or, if it
   * is not tokenised, {@link #textHashes}.
   *
   * @param format how blocks of tokens are named
   * @param tokensPerBlock tokens in a block, at least 1
   * @return the names
   */
  public BlockHashes prefix(HashFormat format, int tokensPerBlock) {
    return isTokenised() ? hashes(format, tokensPerBlock) : textHashes(tokensPerBlock);
  }

  /** {@return whether the prompt's tokens, or hashes of them, are known} */
  public boolean isTokenised() {
    return blocks.isTokenised();
  }

  /**
   * The names of the blocks of the prompt's text, to recognise prompts whose tokens are unknown.
   * Four bytes of UTF-8 count as one token. O(characters) for the first call.
   *
   * @param tokensPerBlock tokens in a block, at least 1
   * @return the names of the full blocks; none if the prompt is given as tokens
   */
  public BlockHashes textHashes(int tokensPerBlock) {
    return blocks.textHashes(tokensPerBlock);
  }

  /**
   * The names of the blocks of the texts after the first, where a request has several.
   *
   * @param tokensPerBlock tokens in a block, at least 1
   * @return the names of each text's full blocks; empty for a single text or tokens
   */
  public List<BlockHashes> furtherTextHashes(int tokensPerBlock) {
    return blocks.furtherTextHashes(tokensPerBlock);
  }

  /**
   * {@return which turn of its conversation the prompt is, by its form. O(bytes) for the first
   * call}
   */
  public PromptSource.Turn turn() {
    return prompt.turn();
  }

  /**
   * The keys under which TensorRT-LLM names the blocks of each prompt; a partial last block has a
   * key too.
   *
   * @param naming how blocks are named
   * @param tokensPerBlock tokens in a full block, at least 1
   * @return the keys of each prompt; empty if the request has no tokens
   */
  public List<long[]> trtllmKeys(TrtllmHash naming, int tokensPerBlock) {
    return blocks.trtllmKeys(naming, tokensPerBlock);
  }

  @Override
  public String toString() {
    return "request " + id + (inputTokens < 0 ? "" : " (" + inputTokens + " tokens)");
  }
}
