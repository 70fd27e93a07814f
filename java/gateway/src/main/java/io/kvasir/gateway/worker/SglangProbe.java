package io.kvasir.gateway.worker;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * SGLang describes itself at {@code /server_info}, older versions at {@code /get_server_info}. Its
 * object {@code kv_events} says where the ranks publish: a port for rank 0, and as many higher for
 * each other rank as its number. Metrics exist only with {@code --enable-metrics}.
 *
 * <p>Its block events describe the cache of full attention only. Layers with a window or with
 * recurrent state free theirs without an event: such models are known by their architecture at
 * {@code /model_info}, and by pools of these layers in the metrics.
 */
final class SglangProbe implements FlavorProbe {

  private static final byte[] NOTHING = {};
  private static final String INFO = "/server_info";
  private static final String OLD_INFO = "/get_server_info";
  private static final String MODEL = "/model_info";
  private static final String OLD_MODEL = "/get_model_info";
  private static final String METRICS = "/metrics";
  private static final String CACHE = "sglang:cache_config_info";
  private static final String WINDOW_POOL = "sglang:swa_token_usage";
  private static final String STATE_POOL = "sglang:mamba_usage";

  /** Prefixes of architectures whose sliding windows have their own pool. */
  private static final List<String> WINDOWS =
      List.of("Llama4For", "GptOssFor", "MiMoV2", "Step3p5", "Gemma4For");

  /** Prefixes of architectures with recurrent layers. */
  private static final List<String> STATES =
      List.of(
          "Qwen3Next",
          "Qwen3_5",
          "NemotronH",
          "FalconH1",
          "KimiLinear",
          "JetNemotron",
          "GraniteMoeHybrid",
          "Lfm2");

  @Override
  public List<String> targets() {
    return List.of(INFO, OLD_INFO, MODEL, OLD_MODEL, METRICS);
  }

  @Override
  public boolean needs(String target, Map<String, byte[]> answers) {
    return switch (target) {
      case OLD_INFO -> !answers.containsKey(INFO);
      case MODEL -> !answers.containsKey(OLD_MODEL);
      case OLD_MODEL -> !answers.containsKey(MODEL);
      default -> true;
    };
  }

  @Override
  public WorkerFacts read(Map<String, byte[]> answers, URI url) {
    JsonNode info = EngineJson.read(answers.get(INFO));
    if (!info.isObject()) {
      info = EngineJson.read(answers.get(OLD_INFO));
    }
    JsonNode events = info.path("kv_events");
    int max = WorkerSpec.MAX_RANKS;
    int ranks = EngineJson.number(events, "dp_size", 1, max, 0);
    ranks = ranks > 0 ? ranks : EngineJson.number(info, "dp_size", 1, max, 0);
    int blockSize = EngineJson.number(events, "block_size", 1, MAX_BLOCK_SIZE, 0);
    if (blockSize == 0) {
      blockSize = EngineJson.number(info, "page_size", 1, MAX_BLOCK_SIZE, 0);
    }
    long blocks = 0;
    byte[] metrics = answers.getOrDefault(METRICS, NOTHING);
    for (PrometheusText.Sample sample : PrometheusText.read(metrics, Set.of(CACHE))) {
      long size = sample.number("page_size");
      blockSize = blockSize == 0 && size > 0 && size <= MAX_BLOCK_SIZE ? (int) size : blockSize;
      blocks = Math.max(blocks, sample.number("num_pages"));
    }
    if (blocks == 0 && blockSize > 0) {
      blocks = EngineJson.number(info, "max_total_num_tokens", 0, Integer.MAX_VALUE, 0) / blockSize;
    }
    // On several nodes, the ranks of the others publish from hosts that the engine does not name.
    boolean oneNode = EngineJson.number(info, "nnodes", 1, max, 1) == 1;
    return new WorkerFacts(
        EngineJson.text(info, "version"),
        blockSize,
        blocks,
        ranks,
        -1,
        oneNode ? events(events, Math.max(1, ranks), url) : null,
        hasOtherPools(info, answers),
        disagg(info),
        Map.of());
  }

  /** The mode is the text "null" of a server that serves whole requests. */
  private static @Nullable DisaggFacts disagg(JsonNode info) {
    String mode = EngineJson.text(info, "disaggregation_mode");
    if (mode == null) {
      return null;
    }
    WorkerRole role = mode.equals("null") ? WorkerRole.BOTH : WorkerRole.named(mode);
    int port =
        EngineJson.number(info, "disaggregation_bootstrap_port", 1, EventEndpoints.MAX_PORT, 0);
    return role == null ? null : new DisaggFacts(role, port);
  }

  private static boolean hasOtherPools(JsonNode info, Map<String, byte[]> answers) {
    byte[] metrics = answers.getOrDefault(METRICS, NOTHING);
    for (PrometheusText.Sample sample :
        PrometheusText.read(metrics, Set.of(WINDOW_POOL, STATE_POOL))) {
      if (sample.value() > 0) {
        return true;
      }
    }
    boolean windowsApart = !info.path("disable_hybrid_swa_memory").asBoolean();
    JsonNode model =
        EngineJson.read(answers.getOrDefault(MODEL, answers.getOrDefault(OLD_MODEL, NOTHING)));
    for (JsonNode architecture : model.path("architectures")) {
      String name = architecture.asText();
      if (STATES.stream().anyMatch(name::startsWith)
          || (windowsApart && WINDOWS.stream().anyMatch(name::startsWith))) {
        return true;
      }
    }
    return false;
  }

  private static @Nullable EventEndpoints events(JsonNode events, int ranks, URI url) {
    List<String> live = endpoints(events, "endpoint_host", "endpoint_port_base", ranks, url);
    if (live.isEmpty()) {
      return null;
    }
    String topic = EngineJson.text(events, "topic");
    try {
      return new EventEndpoints(
          live,
          endpoints(events, "replay_endpoint_host", "replay_endpoint_port_base", ranks, url),
          topic == null ? "" : topic,
          false);
    } catch (IllegalArgumentException e) {
      return null; // the operator's description must have them
    }
  }

  private static List<String> endpoints(
      JsonNode events, String hostField, String portField, int ranks, URI url) {
    int port = EngineJson.number(events, portField, 1, EventEndpoints.MAX_PORT, 0);
    if (port == 0) {
      return List.of();
    }
    String host = EngineJson.text(events, hostField);
    if (host == null || EventEndpoints.isWildcard(host)) {
      host = url.getHost();
    } else if (host.contains(":") && !host.startsWith("[")) {
      host = "[" + host + "]";
    }
    List<String> endpoints = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      endpoints.add("tcp://" + host + ":" + (port + rank));
    }
    return endpoints;
  }
}
