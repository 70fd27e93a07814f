package io.kvasir.gateway.worker;

import org.jspecify.annotations.Nullable;

/**
 * The part of requests that a worker serves, and what the other part must know of it. Immutable.
 *
 * @param role the part
 * @param dialect the protocol of its transfers; without meaning for role both
 * @param bootstrapHost the host of its bootstrap server, as workers of role decode reach it: with
 *     Mooncake and SGLang
 * @param statedBootstrapPort the port of its bootstrap server; 0 if not stated
 * @param sideChannelHost the host at which its ranks exchange handshakes: with NIXL's push
 * @param sideChannelPort the port of its rank 0; a rank's is as many higher as its number
 * @param engineId the id of its engine in transfers, in which {@code {r}} is the rank's number;
 *     null if not stated
 * @param tpSize the GPUs of a rank
 */
public record DisaggSpec(
    WorkerRole role,
    DisaggDialect dialect,
    String bootstrapHost,
    int statedBootstrapPort,
    String sideChannelHost,
    int sideChannelPort,
    @Nullable String engineId,
    int tpSize) {

  /** The port of bootstrap servers, unless it is stated. */
  static final int BOOTSTRAP_PORT = 8_998;

  /** The port of NIXL's side channel of rank 0, unless it is stated. */
  static final int SIDE_CHANNEL_PORT = 5_600;

  /** A rank's number in {@link #engineId()}. */
  static final String RANK = "{r}";

  /** A worker that serves whole requests. */
  public static final DisaggSpec WHOLE =
      new DisaggSpec(
          WorkerRole.BOTH,
          DisaggDialect.NIXL,
          "localhost",
          0,
          "localhost",
          SIDE_CHANNEL_PORT,
          null,
          1);

  /** {@return whether it can compute prompts itself; SGLang's servers of role decode cannot} */
  public boolean decodesWhole() {
    return role != WorkerRole.DECODE || dialect != DisaggDialect.BOOTSTRAP;
  }

  /** {@return the port of its bootstrap server} */
  public int bootstrapPort() {
    return statedBootstrapPort > 0 ? statedBootstrapPort : BOOTSTRAP_PORT;
  }

  /** {@return the URL of its bootstrap server} */
  public String bootstrapUrl() {
    return "http://" + bootstrapHost + ":" + bootstrapPort();
  }

  /**
   * {@return the id of a rank's engine in transfers; null if not stated}
   *
   * @param rank the rank in the worker's own numbering
   */
  public @Nullable String engineId(int rank) {
    return engineId == null ? null : engineId.replace(RANK, Integer.toString(rank));
  }
}
