package io.kvasir.embedded.disagg;

import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.model.Checks;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * An engine's part in answering requests together with other engines. Immutable.
 *
 * @param role what it does
 * @param connector how KV moves
 * @param link the time model of a transfer
 * @param leaseMs how long unfetched blocks stay pinned, in milliseconds
 * @param waitMs how long one leg waits for the other, in milliseconds
 * @param recompute whether a prompt is computed again if its KV does not come; if not, the request
 *     fails ({@code kv_load_failure_policy})
 * @param bothWays whether the KV of answers may be fetched too ({@code bidirectional_kv_xfer})
 * @param answerLeaseMs how long the blocks of answers stay pinned, in milliseconds ({@code
 *     decoder_kv_blocks_ttl})
 * @param engineId names the engine; each rank has a name of its own made from it
 * @param authKey the key that signs generation requests of TensorRT-LLM; null accepts all
 */
public record RoleSettings(
    EngineRole role,
    KvConnector connector,
    KvTransfer link,
    long leaseMs,
    long waitMs,
    boolean recompute,
    boolean bothWays,
    long answerLeaseMs,
    String engineId,
    @Nullable String authKey) {

  /** Bytes of a token's KV by default: an MLA cache, 61 layers of 576 elements of 2 bytes. */
  public static final long DEFAULT_BYTES_PER_TOKEN = 61 * 576 * 2;

  /** Bandwidth of a transfer by default, in bytes a second: a link of 400 Gb/s. */
  public static final double DEFAULT_BYTES_PER_SECOND = 50e9;

  /** Lease of pinned blocks by default, in milliseconds: {@code kv_lease_duration} of NIXL. */
  public static final long DEFAULT_LEASE_MS = 30_000;

  /**
   * Checks that the parts fit together.
   *
   * @throws IllegalArgumentException naming what does not
   */
  public RoleSettings {
    Checks.atLeast("leaseMs", leaseMs, 1);
    Checks.atLeast("waitMs", waitMs, 1);
    Checks.atLeast("answerLeaseMs", answerLeaseMs, 1);
    if (connector == KvConnector.BOOTSTRAP && role == EngineRole.BOTH) {
      throw new IllegalArgumentException("an engine of SGLang is for prefill or for decode");
    }
    if (bothWays && connector != KvConnector.NIXL) {
      throw new IllegalArgumentException("only nixl moves KV both ways");
    }
    if (authKey != null && connector != KvConnector.TRTLLM) {
      throw new IllegalArgumentException("only TensorRT-LLM signs requests");
    }
    if (engineId.isBlank()) {
      throw new IllegalArgumentException("engineId must not be blank");
    }
  }

  /**
   * {@return how long legs of a connector wait for each other by default, in milliseconds}
   *
   * @param connector the connector
   */
  public static long defaultWaitMs(KvConnector connector) {
    return connector.flavor() == EngineFlavor.VLLM ? 480_000 : 300_000;
  }

  /**
   * A builder with defaults: a transfer of the default bandwidth, the engine's own limits, failing
   * requests whose KV does not come, a random engine id, no key.
   *
   * @param role what the engine does
   * @param connector how KV moves
   * @return the builder
   */
  public static Builder builder(EngineRole role, KvConnector connector) {
    return new Builder(role, connector);
  }

  /** Collects settings. Not thread-safe. */
  public static final class Builder {

    private final EngineRole role;
    private final KvConnector connector;
    private KvTransfer link = new KvTransfer(DEFAULT_BYTES_PER_TOKEN, DEFAULT_BYTES_PER_SECOND);
    private long leaseMs = DEFAULT_LEASE_MS;
    private long waitMs;
    private boolean recompute;
    private boolean bothWays;
    private long answerLeaseMs = 480_000;
    private String engineId = UUID.randomUUID().toString();
    private @Nullable String authKey;

    private Builder(EngineRole role, KvConnector connector) {
      this.role = role;
      this.connector = connector;
      this.waitMs = defaultWaitMs(connector);
    }

    /**
     * Sets {@link RoleSettings#link()}.
     *
     * @param value the time model
     * @return this builder
     */
    public Builder link(KvTransfer value) {
      link = value;
      return this;
    }

    /**
     * Sets {@link RoleSettings#leaseMs()}.
     *
     * @param value milliseconds, at least 1
     * @return this builder
     */
    public Builder leaseMs(long value) {
      leaseMs = value;
      return this;
    }

    /**
     * Sets {@link RoleSettings#waitMs()}.
     *
     * @param value milliseconds, at least 1
     * @return this builder
     */
    public Builder waitMs(long value) {
      waitMs = value;
      return this;
    }

    /**
     * Sets {@link RoleSettings#recompute()}.
     *
     * @param value whether prompts are computed again
     * @return this builder
     */
    public Builder recompute(boolean value) {
      recompute = value;
      return this;
    }

    /**
     * Sets {@link RoleSettings#bothWays()}.
     *
     * @param value whether the KV of answers may be fetched
     * @return this builder
     */
    public Builder bothWays(boolean value) {
      bothWays = value;
      return this;
    }

    /**
     * Sets {@link RoleSettings#answerLeaseMs()}.
     *
     * @param value milliseconds, at least 1
     * @return this builder
     */
    public Builder answerLeaseMs(long value) {
      answerLeaseMs = value;
      return this;
    }

    /**
     * Sets {@link RoleSettings#engineId()}.
     *
     * @param value the name
     * @return this builder
     */
    public Builder engineId(String value) {
      engineId = value;
      return this;
    }

    /**
     * Sets {@link RoleSettings#authKey()}.
     *
     * @param value the key; null accepts all requests
     * @return this builder
     */
    public Builder authKey(@Nullable String value) {
      authKey = value;
      return this;
    }

    /**
     * Makes the settings.
     *
     * @return the settings
     * @throws IllegalArgumentException naming what does not fit
     */
    public RoleSettings build() {
      return new RoleSettings(
          role,
          connector,
          link,
          leaseMs,
          waitMs,
          recompute,
          bothWays,
          answerLeaseMs,
          engineId,
          authKey);
    }
  }

  /** {@return the settings, without the key} */
  @Override
  public String toString() {
    return "RoleSettings[role="
        + role.id()
        + ", connector="
        + connector.id()
        + ", link="
        + link
        + ", leaseMs="
        + leaseMs
        + ", waitMs="
        + waitMs
        + ", recompute="
        + recompute
        + ", bothWays="
        + bothWays
        + ", answerLeaseMs="
        + answerLeaseMs
        + ", engineId="
        + engineId
        + ", authKey="
        + (authKey == null ? "none" : "(a key)")
        + "]";
  }

  /** {@return the name of a rank, which vLLM calls its engine id} */
  String engineId(int rank) {
    return engineId + "_dp" + rank;
  }
}
