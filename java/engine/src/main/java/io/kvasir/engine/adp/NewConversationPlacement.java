package io.kvasir.engine.adp;

import io.kvasir.model.Choice;
import java.util.Locale;

/** Where the {@code conversation} router puts what is bound to no rank, or whose rank is full. */
public enum NewConversationPlacement {
  /** Each rank in turn. */
  ROUND_ROBIN,
  /** The rank with the fewest requests, then the lowest index. */
  LEAST_QUEUED,
  /** The rank with the fewest prompt tokens, then the fewest requests, then the lowest index. */
  LEAST_TOKENS;

  /**
   * Finds a placement by name, as leniently as TensorRT-LLM's constructor does.
   *
   * @param value what was configured, of any type, or null
   * @return {@link #ROUND_ROBIN} for everything unknown
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
   * @throws IllegalArgumentException listing the names there are, if this is none of them
   */
  public static NewConversationPlacement named(String id) {
    return Choice.named(
        "kv_cache_routing_new_conv_placement", values(), NewConversationPlacement::id, id);
  }

  /**
   * The placement's name in configurations.
   *
   * @return for example {@code least_queued}
   */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }
}
