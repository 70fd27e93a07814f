package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.CostOverrides;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.model.Checks;
import java.util.Objects;

/**
 * A request for which a rank is to be chosen.
 *
 * <p>Immutable by contract: the array of hashes is not copied and must not be changed by anyone.
 */
public final class SelectionRequest {

  private static final long[] NO_HASHES = {};

  private final long requestId;
  private final int inputTokens;
  private final long[] sequenceHashes;
  private final int blocks;
  private final int expectedOutputTokens;
  private final RankFilter filter;
  private final CostOverrides overrides;
  private final int strictPriority;
  private final double priorityJump;

  private SelectionRequest(Builder builder) {
    this.requestId = builder.requestId;
    this.inputTokens = builder.inputTokens;
    this.sequenceHashes = builder.sequenceHashes;
    this.blocks = builder.blocks;
    this.expectedOutputTokens = builder.expectedOutputTokens;
    this.filter = builder.filter;
    this.overrides = builder.overrides;
    this.strictPriority = builder.strictPriority;
    this.priorityJump = builder.priorityJump;
  }

  /**
   * Starts a request.
   *
   * @param requestId unique among the requests in flight; also the seed of what is drawn for it
   * @param inputTokens tokens of the prompt, at least 0
   * @return a builder without hashes, and with nothing else set
   */
  public static Builder builder(long requestId, int inputTokens) {
    return new Builder(requestId, inputTokens);
  }

  /**
   * The request's id.
   *
   * @return unique among the requests in flight
   */
  public long requestId() {
    return requestId;
  }

  /**
   * Tokens of the prompt.
   *
   * @return at least 0
   */
  public int inputTokens() {
    return inputTokens;
  }

  /**
   * The prompt's sequence hashes. Callers must not change them.
   *
   * @return the array itself; its first {@link #blocks()} entries count
   */
  public long[] sequenceHashes() {
    return sequenceHashes;
  }

  /**
   * Full blocks of the prompt.
   *
   * @return at least 0
   */
  public int blocks() {
    return blocks;
  }

  /**
   * How many tokens are likely to be generated.
   *
   * @return at least 0; 0 if unknown
   */
  public int expectedOutputTokens() {
    return expectedOutputTokens;
  }

  /**
   * Who may serve it.
   *
   * @return the filter
   */
  public RankFilter filter() {
    return filter;
  }

  /**
   * Options that it sets for itself.
   *
   * @return the overrides
   */
  public CostOverrides overrides() {
    return overrides;
  }

  /**
   * Its class while it waits: a higher one always goes first.
   *
   * @return 0 unless set
   */
  public int strictPriority() {
    return strictPriority;
  }

  /**
   * How far it is put forward in its class while it waits: seconds under {@link QueuePolicy#FCFS},
   * a share of its weight under {@link QueuePolicy#WSPT}.
   *
   * @return at least 0; 0 unless set
   */
  public double priorityJump() {
    return priorityJump;
  }

  @Override
  public String toString() {
    return "request " + requestId + " (" + inputTokens + " tokens)";
  }

  /** Collects the parts of a {@link SelectionRequest}. Not thread-safe. */
  public static final class Builder {
    private final long requestId;
    private final int inputTokens;
    private long[] sequenceHashes = NO_HASHES;
    private int blocks;
    private int expectedOutputTokens;
    private RankFilter filter = RankFilter.ANY;
    private CostOverrides overrides = CostOverrides.NONE;
    private int strictPriority;
    private double priorityJump;

    private Builder(long requestId, int inputTokens) {
      this.requestId = requestId;
      this.inputTokens = inputTokens;
    }

    /**
     * Sets {@link SelectionRequest#sequenceHashes()}.
     *
     * @param hashes of the full blocks, from the first; not copied
     * @param count how many of them count
     * @return this builder
     */
    public Builder blocks(long[] hashes, int count) {
      this.sequenceHashes = Objects.requireNonNull(hashes, "hashes");
      this.blocks = count;
      return this;
    }

    /**
     * Sets {@link SelectionRequest#expectedOutputTokens()}.
     *
     * @param value at least 0
     * @return this builder
     */
    public Builder expectedOutputTokens(int value) {
      this.expectedOutputTokens = value;
      return this;
    }

    /**
     * Sets {@link SelectionRequest#filter()}.
     *
     * @param value the filter
     * @return this builder
     */
    public Builder filter(RankFilter value) {
      this.filter = Objects.requireNonNull(value, "filter");
      return this;
    }

    /**
     * Sets {@link SelectionRequest#overrides()}.
     *
     * @param value the overrides
     * @return this builder
     */
    public Builder overrides(CostOverrides value) {
      this.overrides = Objects.requireNonNull(value, "overrides");
      return this;
    }

    /**
     * Sets {@link SelectionRequest#strictPriority()}.
     *
     * @param value higher goes first
     * @return this builder
     */
    public Builder strictPriority(int value) {
      this.strictPriority = value;
      return this;
    }

    /**
     * Sets {@link SelectionRequest#priorityJump()}.
     *
     * @param value finite, at least 0
     * @return this builder
     */
    public Builder priorityJump(double value) {
      this.priorityJump = value;
      return this;
    }

    /**
     * Makes the request.
     *
     * @return the request
     * @throws IllegalArgumentException naming the field that is out of range
     */
    public SelectionRequest build() {
      atLeast0("inputTokens", inputTokens);
      atLeast0("expectedOutputTokens", expectedOutputTokens);
      if (blocks < 0 || blocks > sequenceHashes.length) {
        throw new IllegalArgumentException(
            "blocks must be within 0 to the " + sequenceHashes.length + " hashes, not " + blocks);
      }
      Checks.finiteAtLeast0("priorityJump", priorityJump);
      return new SelectionRequest(this);
    }

    private static void atLeast0(String name, int value) {
      if (value < 0) {
        throw new IllegalArgumentException(name + " must be at least 0, not " + value);
      }
    }
  }
}
