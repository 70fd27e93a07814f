package io.kvasir.gateway.worker;

import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * vLLM names its version at {@code /version}. Its metrics have block size and blocks as labels of
 * {@code vllm:cache_config_info}, once for each rank; the label {@code engine} is the rank's number
 * in the whole deployment.
 */
final class VllmProbe implements FlavorProbe {

  private static final String VERSION = "/version";
  private static final String METRICS = "/metrics";
  private static final String CACHE = "vllm:cache_config_info";
  private static final String RUNNING = "vllm:num_requests_running";

  @Override
  public List<String> targets() {
    return List.of(VERSION, METRICS);
  }

  @Override
  public WorkerFacts read(Map<String, byte[]> answers, URI url) {
    int blockSize = 0;
    long blocks = 0;
    TreeSet<Long> ranks = new TreeSet<>();
    byte[] metrics = answers.getOrDefault(METRICS, new byte[0]);
    for (PrometheusText.Sample sample : PrometheusText.read(metrics, Set.of(CACHE, RUNNING))) {
      long rank = sample.number("engine");
      if (rank >= 0 && rank < WorkerSpec.MAX_RANKS) {
        ranks.add(rank);
      }
      long size = sample.number("block_size");
      if (size > 0 && size <= MAX_BLOCK_SIZE && blockSize == 0) {
        blockSize = (int) size;
      }
      long count = sample.number("num_gpu_blocks");
      blocks = count > 0 && (blocks == 0 || count < blocks) ? count : blocks;
    }
    // Ranks with gaps are no numbering that could be mapped.
    boolean whole = !ranks.isEmpty() && ranks.last() - ranks.first() == ranks.size() - 1;
    return new WorkerFacts(
        EngineJson.text(EngineJson.read(answers.get(VERSION)), "version"),
        blockSize,
        blocks,
        whole ? ranks.size() : 0,
        whole ? ranks.first().intValue() : -1,
        null,
        false,
        null,
        Map.of());
  }
}
