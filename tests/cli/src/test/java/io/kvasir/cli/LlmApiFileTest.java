package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** TensorRT-LLM's YAML file of the LLM API as settings of a replay. */
class LlmApiFileTest {

  private static final String SMALL = "replay --sessions 2 --turns 1 --format json ";
  private static final Path EXAMPLE =
      Path.of(System.getProperty("kvasir.root"), "examples", "llm-api.yaml");

  @TempDir private Path folder;

  private static Outcome run(String options) {
    return Outcome.of(Map.of(), SMALL + options);
  }

  private static int config(Outcome outcome, String name) {
    return outcome.json().get("config").get(name).asInt();
  }

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("llm.yaml"), text);
  }

  @Test
  void theExampleSetsWhatAWorkerHas() {
    Outcome outcome = run("--extra-llm-api-options " + EXAMPLE);
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode report = outcome.json();
    assertThat(report.get("perRank").size()).isEqualTo(4);
    assertThat(config(outcome, "poolTokens")).isEqualTo(400_000);
    assertThat(config(outcome, "tokensPerBlock")).isEqualTo(32);
    assertThat(report.get("router").asText()).isEqualTo("kv_cache_aware");
    assertThat(config(outcome, "maxNumTokens")).isEqualTo(4_096);
    assertThat(config(outcome, "timeoutIters")).isEqualTo(60);
    assertThat(outcome.err())
        .isEqualTo(
            EXAMPLE
                + ": not used: backend, moe_expert_parallel_size, cuda_graph_config,"
                + " kv_cache_config.free_gpu_memory_fraction\n");
  }

  @Test
  void flagsVariablesAndConfigWin() throws IOException {
    Path config = Files.writeString(folder.resolve("kvasir.yaml"), "pool_tokens: 50000\n");
    Outcome outcome =
        Outcome.of(
            Map.of("KVASIR_TOKENS_PER_BLOCK", "16"),
            SMALL + "--ranks 2 --config " + config + " --extra-llm-api-options " + EXAMPLE);
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    assertThat(outcome.json().get("perRank").size()).isEqualTo(2);
    assertThat(config(outcome, "poolTokens")).isEqualTo(50_000);
    assertThat(config(outcome, "tokensPerBlock")).isEqualTo(16);
  }

  @Test
  void withoutAttentionDataParallelismThereIsOneCache() throws IOException {
    Outcome outcome = run("--ranks 1 --extra-llm-api-options " + file("tensor_parallel_size: 8\n"));
    assertThat(outcome.err())
        .endsWith(": not used: tensor_parallel_size (without enable_attention_dp)\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          max_num_tokens: many | :1: max_num_tokens must be an integer
          kv_cache_config: {max_tokens: [1]} | :1: kv_cache_config.max_tokens must be a single value
          scheduler_config: {capacity_scheduler_policy: none} | :1: scheduler_config.capacity_scheduler_policy must be
          'enable_attention_dp: true\ntensor_parallel_size: 0' | :2: tensor_parallel_size must be
          '[1, 2]' | :1: must be a mapping of keys to values
          '{a: [}' | :1: not YAML
          """)
  void errorsNameTheLine(String text, String problem) throws IOException {
    Path file = file(text.replace("\\n", "\n"));
    Outcome outcome = run("--extra-llm-api-options " + file);
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err()).startsWith(file + problem);
  }
}
