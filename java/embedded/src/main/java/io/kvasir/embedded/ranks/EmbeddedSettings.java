package io.kvasir.embedded.ranks;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.execute.ExecutorOptions;
import io.kvasir.engine.execute.WaitingQueuePolicy;
import io.kvasir.engine.pool.PoolGroup;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.Checks;
import io.kvasir.timing.StepTiming;
import java.util.List;

/**
 * The settings of an {@code EmbeddedEngine}.
 *
 * <p>Immutable.
 *
 * @param model the name of the served model
 * @param ranks number of ranks
 * @param router the ADP router
 * @param routing options of the routers
 * @param poolTokens tokens that each rank's pool holds; rounded down to whole blocks
 * @param tokensPerBlock tokens of a block
 * @param groups cache groups of a hybrid model besides full attention
 * @param hashFormat how blocks are hashed
 * @param executor how ranks run their requests; without {@code kvTransfer}
 * @param queuePolicy order of the waiting queue
 * @param timing the time model of a step
 * @param speed modelled seconds that pass in one second
 * @param seed seed of the answers; engines with equal seeds answer equal prompts alike
 * @param maxModelLen most tokens of a prompt and its answer together
 * @param maxQueuedRequests most sequences that wait and run together; further requests are refused
 * @param responseStoreBytes most bytes of responses that are stored for {@code
 *     previous_response_id}; the least recently used ones are dropped
 */
public record EmbeddedSettings(
    String model,
    int ranks,
    AdpRouterKind router,
    AttentionDpConfig routing,
    int poolTokens,
    int tokensPerBlock,
    List<PoolGroup> groups,
    HashFormat hashFormat,
    ExecutorOptions executor,
    WaitingQueuePolicy queuePolicy,
    StepTiming timing,
    double speed,
    long seed,
    int maxModelLen,
    int maxQueuedRequests,
    long responseStoreBytes) {

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field that is out of range
   */
  public EmbeddedSettings {
    if (model.isBlank()) {
      throw new IllegalArgumentException("model must not be blank");
    }
    Checks.atLeast("ranks", ranks, 1);
    Checks.atLeast("tokensPerBlock", tokensPerBlock, 1);
    groups = List.copyOf(groups);
    if (poolTokens < tokensPerBlock) {
      throw new IllegalArgumentException(
          "poolTokens must hold at least one block of " + tokensPerBlock + ", not " + poolTokens);
    }
    if (executor.kvTransfer() != null) {
      throw new IllegalArgumentException("executor must not have kvTransfer");
    }
    if (!(speed > 0) || Double.isInfinite(speed)) {
      throw new IllegalArgumentException("speed must be finite and above 0, not " + speed);
    }
    Checks.atLeast("maxModelLen", maxModelLen, 2);
    Checks.atLeast("maxQueuedRequests", maxQueuedRequests, 1);
    Checks.atLeast("responseStoreBytes", responseStoreBytes, 0);
  }

  /**
   * A builder with the defaults of {@link Builder}.
   *
   * @param model the name of the served model
   * @return the builder
   */
  public static Builder builder(String model) {
    return new Builder(model);
  }

  /** {@return blocks of each rank's pool, at least 1} */
  public int poolBlocks() {
    return poolTokens / tokensPerBlock;
  }

  /** {@return the shape of each rank's pool: leases for all requests, without events} */
  public PoolShape poolShape() {
    return new PoolShape(
        poolBlocks(), tokensPerBlock, executor.maxActiveRequests(), poolBlocks(), 0);
  }

  /**
   * Collects settings. Its defaults: 8 ranks of 200,000 tokens in blocks of 32, full attention, the
   * default router, Kvasir's hash format, {@link ExecutorOptions#DEFAULT}, first come first served,
   * {@link StepTiming#DEFAULT}, speed 1, seed 0, 131,072 tokens of context, 4,096 sequences, 64 MiB
   * of responses. Not thread-safe.
   */
  public static final class Builder {

    private final String model;
    private int ranks = 8;
    private AdpRouterKind router = AdpRouterKind.DEFAULT;
    private AttentionDpConfig routing = AttentionDpConfig.DEFAULT;
    private int poolTokens = 200_000;
    private int tokensPerBlock = 32;
    private List<PoolGroup> groups = List.of();
    private HashFormat hashFormat = HashFormat.KVASIR;
    private ExecutorOptions executor = ExecutorOptions.DEFAULT;
    private WaitingQueuePolicy queuePolicy = WaitingQueuePolicy.FCFS;
    private StepTiming timing = StepTiming.DEFAULT;
    private double speed = 1;
    private long seed;
    private int maxModelLen = 131_072;
    private int maxQueuedRequests = 4096;
    private long responseStoreBytes = 64L << 20;

    private Builder(String model) {
      this.model = model;
    }

    /**
     * Sets {@link EmbeddedSettings#ranks()}.
     *
     * @param value at least 1
     * @return this builder
     */
    public Builder ranks(int value) {
      this.ranks = value;
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#router()} and {@link EmbeddedSettings#routing()}.
     *
     * @param kind the router
     * @param config its options
     * @return this builder
     */
    public Builder router(AdpRouterKind kind, AttentionDpConfig config) {
      this.router = kind;
      this.routing = config;
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#poolTokens()}.
     *
     * @param value at least one block
     * @return this builder
     */
    public Builder poolTokens(int value) {
      this.poolTokens = value;
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#tokensPerBlock()}.
     *
     * @param value at least 1
     * @return this builder
     */
    public Builder tokensPerBlock(int value) {
      this.tokensPerBlock = value;
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#groups()}.
     *
     * @param value the groups
     * @return this builder
     */
    public Builder groups(List<PoolGroup> value) {
      this.groups = List.copyOf(value);
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#hashFormat()}.
     *
     * @param value the format
     * @return this builder
     */
    public Builder hashFormat(HashFormat value) {
      this.hashFormat = value;
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#executor()}.
     *
     * @param value the options, without {@code kvTransfer}
     * @return this builder
     */
    public Builder executor(ExecutorOptions value) {
      this.executor = value;
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#queuePolicy()}.
     *
     * @param value the policy
     * @return this builder
     */
    public Builder queuePolicy(WaitingQueuePolicy value) {
      this.queuePolicy = value;
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#timing()}.
     *
     * @param value the time model
     * @return this builder
     */
    public Builder timing(StepTiming value) {
      this.timing = value;
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#speed()}.
     *
     * @param value above 0, finite
     * @return this builder
     */
    public Builder speed(double value) {
      this.speed = value;
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#seed()}.
     *
     * @param value any number
     * @return this builder
     */
    public Builder seed(long value) {
      this.seed = value;
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#maxModelLen()}.
     *
     * @param value at least 2
     * @return this builder
     */
    public Builder maxModelLen(int value) {
      this.maxModelLen = value;
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#maxQueuedRequests()}.
     *
     * @param value at least 1
     * @return this builder
     */
    public Builder maxQueuedRequests(int value) {
      this.maxQueuedRequests = value;
      return this;
    }

    /**
     * Sets {@link EmbeddedSettings#responseStoreBytes()}.
     *
     * @param value at least 0; 0 stores nothing
     * @return this builder
     */
    public Builder responseStoreBytes(long value) {
      this.responseStoreBytes = value;
      return this;
    }

    /**
     * Makes the settings.
     *
     * @return the settings
     * @throws IllegalArgumentException naming the field that is out of range
     */
    public EmbeddedSettings build() {
      return new EmbeddedSettings(
          model,
          ranks,
          router,
          routing,
          poolTokens,
          tokensPerBlock,
          groups,
          hashFormat,
          executor,
          queuePolicy,
          timing,
          speed,
          seed,
          maxModelLen,
          maxQueuedRequests,
          responseStoreBytes);
    }
  }
}
