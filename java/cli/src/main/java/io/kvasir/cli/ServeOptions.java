package io.kvasir.cli;

import io.kvasir.fleet.router.trtllm.ServeRouterKind;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.replay.ServeSettings;
import java.util.HashMap;
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
  private static final String ARGS = "--serve-router-args";
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
      names = ARGS,
      paramLabel = "KEY=VALUE[,KEY=VALUE]",
      defaultValue = "",
      order = 40,
      description =
          "The serve router's args, by TensorRT-LLM's names, such as load_weight=1 (default: none).")
  private String args;

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
    try {
      return Optional.of(
          new ServeSettings(count, kind, argsByKey(), Math.round(delayMs * NS_PER_MS)));
    } catch (IllegalArgumentException e) {
      throw new UsageException(ARGS, "is wrong: " + e.getMessage());
    }
  }

  private Map<String, Object> argsByKey() {
    Map<String, Object> byKey = new HashMap<>();
    for (String arg : args.isBlank() ? new String[0] : args.split(",", -1)) {
      int equals = arg.indexOf('=');
      if (equals < 1 || byKey.put(arg.substring(0, equals).strip(), value(arg, equals)) != null) {
        throw new UsageException(ARGS, "must be KEY=VALUE, each key once, not '" + args + "'");
      }
    }
    return byKey;
  }

  private static Object value(String arg, int equals) {
    String text = arg.substring(equals + 1).strip();
    if (text.equals("true") || text.equals("false")) {
      return Boolean.valueOf(text);
    }
    try {
      return Double.valueOf(text);
    } catch (NumberFormatException e) {
      throw new UsageException(ARGS, "must be numbers, true or false, not '" + text + "'");
    }
  }

  /** An instance whose blocks have a size and names that the serve router can follow. */
  static ReplaySettings named(ReplaySettings each, ServeSettings serve, Predicate<String> isGiven) {
    if (!serve.followsBlocks()) {
      return each;
    }
    if (serve.args().get("tokens_per_block") instanceof Double size
        && size % each.tokensPerBlock() != 0
        && each.tokensPerBlock() % size != 0) {
      throw new UsageException(
          ARGS,
          "is wrong: tokens_per_block must divide, or be divided by, " + each.tokensPerBlock());
    }
    if (each.hashFormat() == ServeSettings.BLOCK_NAMES) {
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
