package io.kvasir.gateway.worker;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * TensorRT-LLM names its version at {@code /version} and the tokens of a block at {@code
 * /server_info}; {@code /prometheus/metrics} exists only with {@code return_perf_metrics}. Its
 * {@code /metrics} must not be asked: a reading removes the statistics for all other readers.
 */
final class TrtllmProbe implements FlavorProbe {

  private static final String VERSION = "/version";
  private static final String INFO = "/server_info";
  private static final String METRICS = "/prometheus/metrics";
  private static final String TOKENS = "trtllm_kv_cache_tokens_per_block";
  private static final String BLOCKS = "trtllm_kv_cache_max_blocks";

  @Override
  public List<String> targets() {
    return List.of(VERSION, INFO, METRICS);
  }

  @Override
  public WorkerFacts read(Map<String, byte[]> answers, URI url) {
    JsonNode info = EngineJson.read(answers.get(INFO));
    int blockSize = 0;
    long blocks = 0;
    byte[] metrics = answers.getOrDefault(METRICS, new byte[0]);
    for (PrometheusText.Sample sample : PrometheusText.read(metrics, Set.of(TOKENS, BLOCKS))) {
      double value = sample.value();
      if (value >= 1 && value == Math.rint(value) && value <= Integer.MAX_VALUE) {
        if (sample.name().equals(BLOCKS)) {
          blocks = (long) value;
        } else if (value <= MAX_BLOCK_SIZE) {
          blockSize = (int) value;
        }
      }
    }
    // The metrics have the size in use, which can differ from the configured one.
    return new WorkerFacts(
        EngineJson.text(EngineJson.read(answers.get(VERSION)), "version"),
        blockSize > 0
            ? blockSize
            : EngineJson.number(info, "tokens_per_block", 1, MAX_BLOCK_SIZE, 0),
        blocks,
        0,
        -1,
        null,
        false,
        null,
        Map.of());
  }
}
