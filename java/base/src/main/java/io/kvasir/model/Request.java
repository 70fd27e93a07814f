package io.kvasir.model;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One request for generation: a tokenised prompt, the number of tokens to generate, and placement
 * hints.
 *
 * <p>Immutable by contract: the token array is not copied and must not be modified. Tokens are
 * unsigned 32-bit numbers in an {@code int[]}. They are either kept or, with a {@link TokenSource},
 * computed whenever they are needed.
 */
public final class Request {

  /** Value of {@link #targetRank()} when no rank is requested. */
  public static final int ANY_RANK = -1;

  private final long id;
  private final int promptTokens;
  private final TokenSource source;
  private final int maxNewTokens;
  private final int answerTokens;
  private final CacheScope scope;
  private final int targetRank;
  private final @Nullable Boolean givenRelax;
  private final @Nullable String conversationId;
  private final @Nullable String subagentAffinityId;
  private final boolean firstTurn;
  private final int children;
  private final double priority;

  private Request(Builder builder) {
    this.id = builder.id;
    this.promptTokens = builder.promptTokens;
    this.source = builder.source;
    this.maxNewTokens = builder.maxNewTokens;
    this.answerTokens = builder.answerTokens;
    this.scope = builder.scope;
    this.targetRank = builder.targetRank;
    this.givenRelax = builder.relax;
    this.conversationId = builder.conversationId;
    this.subagentAffinityId = builder.subagentAffinityId;
    this.firstTurn = builder.firstTurn;
    this.children = builder.children;
    this.priority = builder.priority;
  }

  /**
   * A builder of a request.
   *
   * @param id the request's id, unique among the requests in flight; also the seed of its tie-break
   * @param tokens the prompt; not copied
   * @return a builder with one new token, no scope, no target rank, relaxed, no conversation
   */
  public static Builder builder(long id, int[] tokens) {
    Objects.requireNonNull(tokens, "tokens");
    return new Builder(id, tokens.length, () -> tokens);
  }

  /**
   * A builder of a request that does not keep its tokens.
   *
   * @param id the request's id, unique among the requests in flight; also the seed of its tie-break
   * @param promptTokens the number of tokens that the source gives
   * @param source gives the prompt
   * @return a builder with one new token, no scope, no target rank, relaxed, no conversation
   * @throws IllegalArgumentException if the number is negative
   */
  public static Builder builder(long id, int promptTokens, TokenSource source) {
    Checks.atLeast("promptTokens", promptTokens, 0);
    return new Builder(id, promptTokens, Objects.requireNonNull(source, "source"));
  }

  /**
   * {@return a builder with the values of this request; its request equals this one until a value
   * is changed}
   */
  public Builder toBuilder() {
    return new Builder(id, promptTokens, source)
        .maxNewTokens(maxNewTokens)
        .answerTokens(answerTokens)
        .scope(scope)
        .targetRank(targetRank)
        .relax(givenRelax)
        .conversationId(conversationId)
        .subagentAffinityId(subagentAffinityId)
        .firstTurn(firstTurn)
        .children(children)
        .priority(priority);
  }

  /** {@return the request's id, unique among the requests in flight} */
  public long id() {
    return id;
  }

  /**
   * The prompt. Callers must not change it. With a {@link TokenSource} it is computed by every
   * call.
   *
   * @return the array itself, not a copy
   */
  public int[] tokens() {
    return source.tokens();
  }

  /**
   * {@return an array that begins with the first tokens of the prompt; callers must not change it}
   *
   * @param least how many it has at least, unless the prompt has fewer
   */
  public int[] leadingTokens(int least) {
    return source.leading(least);
  }

  /**
   * {@return the number of sequences that the request generates: 1 + {@link #children()}; at least
   * 1}
   */
  public int sequences() {
    return 1 + children;
  }

  /** {@return the number of prompt tokens, at least 0} */
  public int promptTokens() {
    return promptTokens;
  }

  /** {@return the maximum number of tokens to generate, at least 1} */
  public int maxNewTokens() {
    return maxNewTokens;
  }

  /**
   * {@return the tokens after which the answer ends, as it does at an end-of-sequence token: at
   * least 1, at most {@link #maxNewTokens()}; for ranks that generate it, not for routers}
   */
  public int answerTokens() {
    return answerTokens == 0 ? maxNewTokens : Math.min(answerTokens, maxNewTokens);
  }

  /** {@return the LoRA adapter and cache salt} */
  public CacheScope scope() {
    return scope;
  }

  /** {@return the requested rank ({@code attention_dp_rank}), or {@link #ANY_RANK}} */
  public int targetRank() {
    return targetRank;
  }

  /**
   * Whether another rank may serve the request when the target is full ({@code
   * attention_dp_relax}). Defaults to true.
   *
   * @return true if relaxed
   */
  public boolean relax() {
    return givenRelax == null || givenRelax;
  }

  /** {@return the client's value of {@link #relax()}; null if the client sent none} */
  public @Nullable Boolean givenRelax() {
    return givenRelax;
  }

  /** {@return the id of the conversation that this request continues or starts, or null} */
  public @Nullable String conversationId() {
    return conversationId;
  }

  /**
   * {@return the id by which conversations are kept on a rank: that of the parent's conversation,
   * if the request is a sub-agent's and names it, else {@link #conversationId()}}
   */
  public @Nullable String affinityId() {
    return subagentAffinityId != null ? subagentAffinityId : conversationId;
  }

  /**
   * {@return whether the conversation is known to start with this request; false if it continues,
   * or if this is unknown}
   */
  public boolean firstTurn() {
    return firstTurn;
  }

  /**
   * {@return the number of further sequences generated from the same prompt (n - 1), at least 0}
   */
  public int children() {
    return children;
  }

  /**
   * {@return the priority in the priority queue, 0.5 unless set; higher values are served first}
   */
  public double priority() {
    return priority;
  }

  @Override
  public String toString() {
    return "request " + id + " (" + promptTokens + " tokens)";
  }

  /** Collects the parts of a {@link Request}. Not thread-safe. */
  public static final class Builder {
    private final long id;
    private final int promptTokens;
    private final TokenSource source;
    private int maxNewTokens = 1;
    private int answerTokens;
    private CacheScope scope = CacheScope.NONE;
    private int targetRank = ANY_RANK;
    private @Nullable Boolean relax;
    private @Nullable String conversationId;
    private @Nullable String subagentAffinityId;
    private boolean firstTurn;
    private int children;
    private double priority = 0.5;

    private Builder(long id, int promptTokens, TokenSource source) {
      this.id = id;
      this.promptTokens = promptTokens;
      this.source = source;
    }

    /**
     * Sets {@link Request#maxNewTokens()}.
     *
     * @param value at least 1
     * @return this builder
     */
    public Builder maxNewTokens(int value) {
      this.maxNewTokens = value;
      return this;
    }

    /**
     * Sets {@link Request#answerTokens()}.
     *
     * @param value at least 0; 0 for the maximum
     * @return this builder
     */
    public Builder answerTokens(int value) {
      this.answerTokens = value;
      return this;
    }

    /**
     * Sets {@link Request#scope()}.
     *
     * @param value the scope
     * @return this builder
     */
    public Builder scope(CacheScope value) {
      this.scope = Objects.requireNonNull(value, "scope");
      return this;
    }

    /**
     * Sets {@link Request#targetRank()}.
     *
     * @param value the rank, or {@link Request#ANY_RANK}
     * @return this builder
     */
    public Builder targetRank(int value) {
      this.targetRank = value;
      return this;
    }

    /**
     * Sets {@link Request#relax()}.
     *
     * @param value whether another rank may serve; null if the client sent none
     * @return this builder
     */
    public Builder relax(@Nullable Boolean value) {
      this.relax = value;
      return this;
    }

    /**
     * Sets {@link Request#conversationId()}.
     *
     * @param value the id, or null
     * @return this builder
     */
    public Builder conversationId(@Nullable String value) {
      this.conversationId = value;
      return this;
    }

    /**
     * Sets the conversation of the parent of a sub-agent, which then is {@link
     * Request#affinityId()}.
     *
     * @param value its id; null or blank for none
     * @return this builder
     */
    public Builder subagentAffinityId(@Nullable String value) {
      this.subagentAffinityId = value == null || value.isBlank() ? null : value;
      return this;
    }

    /**
     * Sets {@link Request#firstTurn()}.
     *
     * @param value whether the conversation starts with this request
     * @return this builder
     */
    public Builder firstTurn(boolean value) {
      this.firstTurn = value;
      return this;
    }

    /**
     * Sets {@link Request#children()}.
     *
     * @param value at least 0
     * @return this builder
     */
    public Builder children(int value) {
      this.children = value;
      return this;
    }

    /**
     * Sets {@link Request#priority()}.
     *
     * @param value higher values are served first
     * @return this builder
     */
    public Builder priority(double value) {
      this.priority = value;
      return this;
    }

    /**
     * Makes the request.
     *
     * @return the request
     * @throws IllegalArgumentException naming the field that is out of range
     */
    public Request build() {
      Checks.atLeast("maxNewTokens", maxNewTokens, 1);
      Checks.atLeast("answerTokens", answerTokens, 0);
      if (targetRank != ANY_RANK) {
        Checks.atLeast("targetRank", targetRank, 0);
      }
      Checks.atLeast("children", children, 0);
      if (Double.isNaN(priority)) {
        throw new IllegalArgumentException("priority must be a number");
      }
      return new Request(this);
    }
  }
}
