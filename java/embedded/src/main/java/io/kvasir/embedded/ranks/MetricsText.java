package io.kvasir.embedded.ranks;

import io.kvasir.embedded.publish.Faults;
import io.kvasir.engine.pool.Occupancy;
import java.util.Locale;

/**
 * The ranks' counts as Prometheus text, under the names of an engine. Requests in the worker's
 * queue are on no rank yet; each rank counts an equal share as waiting. Retired ranks are left out,
 * except for counters.
 *
 * <p>Thread-safe. O(ranks).
 */
public final class MetricsText {

  private final EmbeddedSettings settings;
  private final RankLoop ranks;
  private final RankMeters meters;
  private final Faults faults;

  /**
   * Creates a writer.
   *
   * @param settings the engine's settings
   * @param ranks the ranks
   * @param faults change what is reported
   */
  public MetricsText(EmbeddedSettings settings, RankLoop ranks, Faults faults) {
    this.settings = settings;
    this.ranks = ranks;
    this.meters = ranks.meters();
    this.faults = faults;
  }

  /** {@return the tokens of a block, as the engine reports them} */
  public int blockTokens() {
    int wrong = faults.engine().blockTokens();
    return wrong > 0 ? wrong : settings.tokensPerBlock();
  }

  /** The names of vLLM; the label {@code engine} is the rank. */
  String vllm() {
    MetricLines out = new MetricLines("vllm:", "engine", settings, meters::isRetired);
    out.gauge("num_requests_running", "Requests that run.", meters::running);
    out.gauge("num_requests_waiting", "Requests that wait.", meters::waiting);
    out.gauge("kv_cache_usage_perc", "Blocks in use, 1 for all.", this::usage);
    out.counter("prefix_cache_queries", "Prompt tokens looked up.", meters::queriedTokens);
    out.counter("prefix_cache_hits", "Prompt tokens found.", meters::matchedTokens);
    out.counter("prompt_tokens", "Prompt tokens of answered requests.", meters::promptTokens);
    out.counter("generation_tokens", "Tokens of answers.", meters::outputTokens);
    out.counter("num_preemptions", "Pauses of requests.", meters::preemptions);
    out.counter("request_success", "Finished requests.", meters::finished);
    String sizes =
        String.format(
            Locale.ROOT,
            ",block_size=\"%d\",num_gpu_blocks=\"%d\",enable_prefix_caching=\"%s\"",
            blockTokens(),
            settings.poolBlocks(),
            settings.executor().enableBlockReuse() ? "True" : "False");
    out.info("cache_config_info", "Sizes of a rank's pool.", sizes);
    return out.text();
  }

  /** {@return the metrics under the names of SGLang; the label {@code dp_rank} is the rank} */
  public String sglang() {
    MetricLines out = new MetricLines("sglang:", "dp_rank", settings, meters::isRetired);
    out.gauge("num_running_reqs", "Requests that run.", meters::running);
    out.gauge("num_queue_reqs", "Requests that wait.", meters::waiting);
    out.gauge("token_usage", "Blocks in use, 1 for all.", this::usage);
    out.gauge("cache_hit_rate", "Share of prompt tokens found.", this::hitRate);
    out.counter("prompt_tokens", "Prompt tokens of answered requests.", meters::promptTokens);
    out.counter("generation_tokens", "Tokens of answers.", meters::outputTokens);
    String sizes =
        String.format(
            Locale.ROOT,
            ",page_size=\"%d\",num_pages=\"%d\"",
            blockTokens(),
            settings.poolBlocks());
    out.info("cache_config_info", "Sizes of a rank's pool.", sizes);
    return out.text();
  }

  /** {@return the metrics under the names of TensorRT-LLM, which has no ranks here} */
  public String trtllm() {
    MetricLines out = new MetricLines("trtllm_", "", settings, meters::isRetired);
    long running = 0;
    long waiting = 0;
    double usage = 0;
    for (int rank = 0; rank < settings.ranks(); rank++) {
      running += meters.running(rank);
      waiting += meters.waiting(rank);
      usage += usage(rank) / settings.ranks();
    }
    out.total("num_requests_running", "Requests that run.", running);
    out.total("num_requests_waiting", "Requests that wait.", waiting);
    out.total("kv_cache_utilization", "Blocks in use, 1 for all.", usage);
    out.total("kv_cache_tokens_per_block", "Tokens of a block.", blockTokens());
    out.total("kv_cache_max_blocks", "Blocks of a rank's pool.", settings.poolBlocks());
    return out.text();
  }

  private double hitRate(int rank) {
    long queried = meters.queriedTokens(rank);
    return queried == 0 ? 0 : (double) meters.matchedTokens(rank) / queried;
  }

  /**
   * {@return the share of a rank's blocks that are in use, 0 to 1}
   *
   * @param rank the rank
   */
  public double usage(int rank) {
    try {
      Occupancy occupancy = ranks.occupancy(rank);
      return (double) occupancy.activeBlocks() / occupancy.capacityBlocks();
    } catch (IllegalStateException e) {
      return 0; // the engine was closed in the meantime
    }
  }
}
