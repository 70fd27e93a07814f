package io.kvasir.simulator.replay;

import io.kvasir.fleet.router.trtllm.ServePorts;
import io.kvasir.fleet.router.trtllm.ServeRouterKind;
import io.kvasir.hash.HashFormat;
import java.util.List;
import java.util.Map;

/**
 * The layer above the instances of a replay.
 *
 * <p>Immutable.
 *
 * @param instances number of instances, all alike
 * @param router who chooses the instance for a request
 * @param args the router's settings by TensorRT-LLM's names; what is missing is the default
 * @param eventDelayNs virtual time from a change of an instance's blocks to when the router knows
 */
public record ServeSettings(
    int instances, ServeRouterKind router, Map<String, Object> args, long eventDelayNs) {

  /** How pools must name their blocks for a router that follows them: as TensorRT-LLM does. */
  public static final HashFormat BLOCK_NAMES = HashFormat.TRTLLM_V1;

  /**
   * Checks the ranges.
   *
   * @throws IllegalArgumentException naming the field or key that is unknown or out of range
   */
  public ServeSettings {
    if (instances < 1) {
      throw new IllegalArgumentException("instances must be at least 1, not " + instances);
    }
    if (eventDelayNs < 0) {
      throw new IllegalArgumentException("eventDelayNs must be at least 0, not " + eventDelayNs);
    }
    args = Map.copyOf(args);
    router.create(List.of(), args, ServePorts.NONE);
  }

  /**
   * Whether the router wants to know what instances hold.
   *
   * @return true if it is told of their blocks
   */
  public boolean followsBlocks() {
    return router == ServeRouterKind.KV_CACHE_AWARE;
  }
}
