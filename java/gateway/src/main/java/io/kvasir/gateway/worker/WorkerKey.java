package io.kvasir.gateway.worker;

import io.kvasir.exchange.EngineFlavor;
import io.kvasir.model.Errors;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A key of a worker's description, {@code URL[,KEY=VALUE]...}, and what its values may be.
 * Immutable.
 *
 * @param name the key
 * @param kind what a value is
 * @param minimum the smallest number; 0 if values are none
 * @param maximum the largest number; 0 if values are none
 * @param choices all values of a choice; empty if it is none
 */
public record WorkerKey(String name, Kind kind, int minimum, int maximum, List<String> choices) {

  /** What a value is. */
  public enum Kind {
    /** A text. */
    TEXT,
    /** A text; the key can be repeated, once for each rank. */
    TEXTS,
    /** An integer. */
    NUMBER,
    /** A number above the minimum, which need not be an integer. */
    PART,
    /** One of several names. */
    CHOICE,
    /** True or false. */
    FLAG
  }

  private static final int MAX_BLOCK_SIZE = 1 << 20;
  private static final int MAX_TP_SIZE = 1_024;

  private static final Map<String, WorkerKey> BY_NAME = new LinkedHashMap<>();

  static {
    Stream.of(
            choice("flavor", Stream.of(EngineFlavor.values()).map(EngineFlavor::id)),
            number("ranks", 1, WorkerSpec.MAX_RANKS),
            of("events", Kind.TEXTS),
            of("replay", Kind.TEXTS),
            of("topic", Kind.TEXT),
            of("bind", Kind.FLAG),
            number("block_size", 1, MAX_BLOCK_SIZE),
            choice("lb", Stream.of(LoadBalancing.values()).map(LoadBalancing::id)),
            number("rank_offset", 0, WorkerSpec.MAX_RANKS - 1),
            number("ranks_per_node", 1, WorkerSpec.MAX_RANKS),
            of("poll", Kind.FLAG),
            of(WorkerSpec.FORWARD_PASSES, Kind.TEXTS),
            of("renderer", Kind.TEXT),
            new WorkerKey("weight", Kind.PART, 0, 1, List.of()),
            of("api_key", Kind.TEXT),
            of("api_key_file", Kind.TEXT),
            of("api_key_env", Kind.TEXT),
            of("renderer_api_key", Kind.TEXT),
            of("renderer_api_key_file", Kind.TEXT),
            of("renderer_api_key_env", Kind.TEXT),
            of(TrustKeys.CA, Kind.TEXT),
            of(TrustKeys.INSECURE, Kind.FLAG),
            of("renderer_" + TrustKeys.CA, Kind.TEXT),
            of("renderer_" + TrustKeys.INSECURE, Kind.FLAG),
            choice(DisaggKeys.ROLE, WorkerRole.names()),
            choice(DisaggKeys.DISAGG, Stream.of(DisaggDialect.values()).map(DisaggDialect::id)),
            of(DisaggKeys.BOOTSTRAP, Kind.TEXT),
            number(DisaggKeys.BOOTSTRAP_PORT, 1, EventEndpoints.MAX_PORT),
            of(DisaggKeys.SIDE_CHANNEL, Kind.TEXT),
            of(DisaggKeys.ENGINE_ID, Kind.TEXT),
            number(DisaggKeys.TP_SIZE, 1, MAX_TP_SIZE))
        .forEach(key -> BY_NAME.put(key.name, key));
  }

  private static WorkerKey of(String name, Kind kind) {
    return new WorkerKey(name, kind, 0, 0, List.of());
  }

  private static WorkerKey number(String name, int minimum, int maximum) {
    return new WorkerKey(name, Kind.NUMBER, minimum, maximum, List.of());
  }

  private static WorkerKey choice(String name, Stream<String> choices) {
    return new WorkerKey(name, Kind.CHOICE, 0, 0, choices.toList());
  }

  /** {@return all keys, in the order in which errors list them} */
  public static List<WorkerKey> all() {
    return List.copyOf(BY_NAME.values());
  }

  /** The key of a name; null if there is none. */
  static @Nullable WorkerKey named(String name) {
    return BY_NAME.get(name);
  }

  /**
   * The integer of a key that has integers.
   *
   * @param name the key
   * @param text the integer
   * @throws IllegalArgumentException saying what is allowed, if it is not
   */
  static int number(String name, String text) {
    WorkerKey key = Objects.requireNonNull(BY_NAME.get(name), name);
    int value = text.matches("[0-9]{1,7}") ? Integer.parseInt(text) : -1;
    if (value < key.minimum || value > key.maximum) {
      throw new IllegalArgumentException(
          "%s must be %d to %d, not '%s'"
              .formatted(name, key.minimum, key.maximum, Errors.shown(text)));
    }
    return value;
  }
}
