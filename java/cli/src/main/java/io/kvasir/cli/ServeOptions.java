package io.kvasir.cli;

import io.kvasir.serve.ServeRouterKind;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.replay.ServeSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import picocli.CommandLine.Option;

/** Options of the layer above the instances. */
final class ServeOptions {

  static final String INSTANCES = "--instances";
  static final String ROUTER = "--serve-router";

  private static final int MOST_INSTANCES = 1024;
  private static final double MOST_DELAY_MS = 3_600_000;
  private static final double NS_PER_MS = 1e6;
  private static final String HASH_FORMAT = "--hash-format";

  @Option(
      names = INSTANCES,
      paramLabel = "N",
      defaultValue = "1",
      order = 40,
      description = "Instances, each with its own ranks and router (default: ${DEFAULT-VALUE}).")
  private String instances;

  @Option(
      names = ROUTER,
      paramLabel = "NAME",
      order = 40,
      description =
          "Who chooses the instance: round_robin, load_balancing, kv_cache_aware, conversation"
              + " (default: nobody for one instance, else round_robin).")
  private String router;

  @Option(
      names = "--event-delay-ms",
      paramLabel = "X",
      defaultValue = "0",
      order = 40,
      description =
          "Modelled time until kv_cache_aware over instances knows what their blocks did"
              + " (default: ${DEFAULT-VALUE}).")
  private String eventDelayMs;

  /** The layer that was asked for; none for one instance that nobody chooses. */
  Optional<ServeSettings> settings() {
    int count = Values.integer(INSTANCES, instances, 1, MOST_INSTANCES);
    double delayMs = Values.number("--event-delay-ms", eventDelayMs, 0, MOST_DELAY_MS);
    if (count == 1 && router == null) {
      return Optional.empty();
    }
    ServeRouterKind kind =
        router == null
            ? ServeRouterKind.ROUND_ROBIN
            : Values.choice(ROUTER, router, List.of(ServeRouterKind.values()), ServeRouterKind::id);
    return Optional.of(new ServeSettings(count, kind, Map.of(), Math.round(delayMs * NS_PER_MS)));
  }

  /** An instance whose blocks have names that the serve router can follow. */
  static ReplaySettings named(ReplaySettings each, ServeSettings serve, Predicate<String> isGiven) {
    if (!serve.followsBlocks() || each.hashFormat() == ServeSettings.BLOCK_NAMES) {
      return each;
    }
    if (isGiven.test(HASH_FORMAT)) {
      throw new UsageException(
          HASH_FORMAT,
          "must be "
              + ServeSettings.BLOCK_NAMES.id()
              + " with "
              + ROUTER
              + " "
              + serve.router().id()
              + ", which follows TensorRT-LLM's events, not "
              + each.hashFormat().id());
    }
    return each.withHashFormat(ServeSettings.BLOCK_NAMES);
  }
}
