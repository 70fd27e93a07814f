package io.kvasir.engine.adp;

import io.kvasir.model.Choice;
import java.util.Locale;

/**
 * How the {@code conversation} router places a request that has no bound rank or whose bound rank
 * is full.
 */
public enum NewConversationPlacement {
  /** The next rank in round-robin order. */
  ROUND_ROBIN,
  /** The rank with the fewest requests, then the lowest index. */
  LEAST_QUEUED,
  /** The rank with the fewest prompt tokens, then the fewest requests, then the next in turn. */
  LEAST_TOKENS;

  /**
   * Finds a placement by name, with the leniency of TensorRT-LLM's constructor.
   *
   * @param value the configured value, of any type, or null
   * @return the placement; {@link #ROUND_ROBIN} for any unknown value
   */
  public static NewConversationPlacement orRoundRobin(Object value) {
    for (NewConversationPlacement placement : values()) {
      if (placement.id().equals(value)) {
        return placement;
      }
    }
    return ROUND_ROBIN;
  }

  /**
   * Finds a placement by name.
   *
   * @param id for example {@code least_queued}
   * @return the placement
   * @throws IllegalArgumentException listing the available names, if {@code id} is none of them
   */
  public static NewConversationPlacement named(String id) {
    return Choice.named(
        "kv_cache_routing_new_conv_placement", values(), NewConversationPlacement::id, id);
  }

  /** {@return the placement's name in configurations, for example {@code least_queued}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
