package io.kvasir.gateway.embedded;

import io.kvasir.engine.pool.Occupancy;
import java.util.Locale;
import java.util.function.IntFunction;

/**
 * The ranks' counts as Prometheus text, under vLLM's names. The label {@code engine} is the rank.
 * Requests in the worker's queue are on no rank yet; each rank counts an equal share as waiting.
 * Retired ranks are left out, except for counters.
 *
 * <p>Thread-safe. O(ranks).
 */
final class MetricsText {

  private final EmbeddedSettings settings;
  private final RankLoop ranks;

  MetricsText(EmbeddedSettings settings, RankLoop ranks) {
    this.settings = settings;
    this.ranks = ranks;
  }

  /** The text of all metrics. */
  String text() {
    RankMeters meters = ranks.meters();
    StringBuilder out = new StringBuilder();
    gauge(out, "num_requests_running", "Requests that run.", meters::running);
    gauge(out, "num_requests_waiting", "Requests that wait.", meters::waiting);
    gauge(out, "kv_cache_usage_perc", "Blocks in use, 1 for all.", this::usage);
    counter(out, "prefix_cache_queries", "Prompt tokens looked up.", meters::queriedTokens);
    counter(out, "prefix_cache_hits", "Prompt tokens found.", meters::matchedTokens);
    counter(out, "prompt_tokens", "Prompt tokens of answered requests.", meters::promptTokens);
    counter(out, "generation_tokens", "Tokens of answers.", meters::outputTokens);
    counter(out, "num_preemptions", "Pauses of requests.", meters::preemptions);
    counter(out, "request_success", "Finished requests.", meters::finished);
    head(out, "vllm:cache_config_info", "gauge", "Sizes of a rank's pool.");
    for (int rank = 0; rank < settings.ranks(); rank++) {
      String sizes =
          String.format(
              Locale.ROOT,
              ",block_size=\"%d\",num_gpu_blocks=\"%d\",enable_prefix_caching=\"%s\"",
              settings.tokensPerBlock(),
              settings.poolBlocks(),
              settings.executor().enableBlockReuse() ? "True" : "False");
      line(out, "vllm:cache_config_info", rank, sizes, 1);
    }
    return out.toString();
  }

  private double usage(int rank) {
    try {
      Occupancy occupancy = ranks.occupancy(rank);
      return (double) occupancy.activeBlocks() / occupancy.capacityBlocks();
    } catch (IllegalStateException e) {
      return 0; // the engine was closed in the meantime
    }
  }

  private void gauge(StringBuilder out, String name, String help, IntFunction<Number> value) {
    String full = "vllm:" + name;
    head(out, full, "gauge", help);
    for (int rank = 0; rank < settings.ranks(); rank++) {
      if (!ranks.meters().isRetired(rank)) {
        line(out, full, rank, "", value.apply(rank));
      }
    }
  }

  private void counter(StringBuilder out, String name, String help, IntFunction<Number> value) {
    String full = "vllm:" + name + "_total";
    head(out, full, "counter", help);
    for (int rank = 0; rank < settings.ranks(); rank++) {
      line(out, full, rank, "", value.apply(rank));
    }
  }

  private static void head(StringBuilder out, String name, String type, String help) {
    out.append("# HELP ").append(name).append(' ').append(help).append('\n');
    out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
  }

  private void line(StringBuilder out, String name, int rank, String more, Number value) {
    String model =
        settings.model().replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    out.append(name)
        .append("{engine=\"")
        .append(rank)
        .append("\",model_name=\"")
        .append(model)
        .append('"')
        .append(more)
        .append("} ")
        .append(value)
        .append('\n');
  }
}
