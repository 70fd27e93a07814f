package io.kvasir.gateway.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.exchange.EngineFlavor;
import io.kvasir.testing.harness.LongRuns;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FlavorProbeTest {

  private static final URI URL = URI.create("http://worker-a:8000");

  private static WorkerFacts read(EngineFlavor flavor, String... answers) {
    Map<String, byte[]> bodies = new HashMap<>();
    for (int i = 0; i < answers.length; i += 2) {
      bodies.put(answers[i], answers[i + 1].replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    }
    return FlavorProbe.of(flavor).read(bodies, URL);
  }

  @Test
  void withoutAnswersNothingIsKnown() {
    for (EngineFlavor flavor : EngineFlavor.values()) {
      assertThat(read(flavor)).isEqualTo(WorkerFacts.NONE);
    }
  }

  @Test
  void vllmHasMetricsOfEachRank() {
    WorkerFacts facts =
        read(
            EngineFlavor.VLLM,
            "/version",
            "{'version':'0.26.1'}",
            "/metrics",
            """
            # TYPE vllm:cache_config_info gauge
            vllm:cache_config_info{block_size='16',engine='4',num_gpu_blocks='1000'} 1.0
            vllm:cache_config_info{block_size='16',engine='5',num_gpu_blocks='990'} 1.0
            vllm:num_requests_running{engine='4',model_name='m'} 0.0
            vllm:num_requests_running{engine='5',model_name='m'} 0.0
            """);
    assertThat(facts)
        .isEqualTo(new WorkerFacts("0.26.1", 16, 990, 2, 4, null, false, null, Map.of()));
  }

  @Test
  void ranksWithGapsAreNoNumbering() {
    WorkerFacts facts =
        read(
            EngineFlavor.VLLM,
            "/metrics",
            """
            vllm:num_requests_running{engine='0'} 0
            vllm:num_requests_running{engine='2'} 0
            vllm:cache_config_info{block_size='None',num_gpu_blocks='x'} 1
            """);
    assertThat(facts).isEqualTo(WorkerFacts.NONE);
  }

  @Test
  void sglangNamesItsEventEndpoints() {
    String info =
        "{'version':'0.5.22','page_size':64,'dp_size':2,'max_total_num_tokens':6400,"
            + "'kv_events':{'endpoint_host':'*','endpoint_port_base':5557,'topic':'kv',"
            + "'block_size':32,'dp_size':2%s}}";
    WorkerFacts facts = read(EngineFlavor.SGLANG, "/server_info", info.formatted(""));
    assertThat(facts.version()).isEqualTo("0.5.22");
    assertThat(facts.blockSize()).isEqualTo(32);
    assertThat(facts.kvBlocks()).isEqualTo(200);
    assertThat(facts.ranks()).isEqualTo(2);
    assertThat(facts.events().live()).containsExactly("tcp://worker-a:5557", "tcp://worker-a:5558");
    assertThat(facts.events().replay(0)).isNull();
    assertThat(facts.events().topic()).isEqualTo("kv");

    String replay = ",'replay_endpoint_host':'10.0.0.7','replay_endpoint_port_base':5657";
    facts = read(EngineFlavor.SGLANG, "/get_server_info", info.formatted(replay));
    assertThat(facts.events().replay())
        .containsExactly("tcp://10.0.0.7:5657", "tcp://10.0.0.7:5658");
  }

  @Test
  void sglangsNewerEndpointGoesFirst() {
    WorkerFacts facts =
        read(
            EngineFlavor.SGLANG,
            "/server_info",
            "{'version':'0.5.22','page_size':64}",
            "/get_server_info",
            "{'version':'old','page_size':1}",
            "/metrics",
            "sglang:cache_config_info{page_size='1',num_pages='77'} 1");
    assertThat(facts)
        .isEqualTo(new WorkerFacts("0.5.22", 64, 77, 0, -1, null, false, null, Map.of()));
  }

  @ParameterizedTest
  @CsvSource({
    "/model_info, LlamaForCausalLM, false, 0, false",
    "/model_info, GptOssForCausalLM, false, 0, true",
    "/get_model_info, Gemma4ForConditionalGeneration, false, 0, true",
    "/model_info, GptOssForCausalLM, true, 0, false",
    "/model_info, Qwen3NextForCausalLM, true, 0, true",
    "/model_info, NewForCausalLM, false, 0.25, true",
  })
  void sglangsOtherPoolsAreKnownByArchitectureAndMetrics(
      String target, String architecture, boolean oneMemory, double usage, boolean expected) {
    WorkerFacts facts =
        read(
            EngineFlavor.SGLANG,
            "/server_info",
            "{'page_size':64,'disable_hybrid_swa_memory':" + oneMemory + "}",
            target,
            "{'model_type':'x','architectures':['" + architecture + "']}",
            "/metrics",
            "sglang:token_usage 0.5\nsglang:mamba_usage 0\nsglang:swa_token_usage " + usage);
    assertThat(facts.partlyAnnounced()).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({"null, BOTH", "prefill, PREFILL", "decode, DECODE"})
  void sglangSaysWhichPartOfRequestsItServes(String mode, WorkerRole role) {
    String info =
        "{'disaggregation_mode':'" + mode + "','disaggregation_bootstrap_port':9001,'version':'1'}";
    assertThat(read(EngineFlavor.SGLANG, "/server_info", info).disagg())
        .isEqualTo(new DisaggFacts(role, 9_001));
  }

  @Test
  void endpointsOfOtherNodesAreNotGuessed() {
    String info =
        "{'nnodes':2,'dp_size':4,'kv_events':{'endpoint_host':'h','endpoint_port_base':5557}}";
    WorkerFacts facts = read(EngineFlavor.SGLANG, "/server_info", info);
    assertThat(facts.ranks()).isEqualTo(4);
    assertThat(facts.events()).isNull();
  }

  @Test
  void portsThatDoNotExistLeaveEventsUnknown() {
    String info = "{'dp_size':4,'kv_events':{'endpoint_host':'h','endpoint_port_base':65533}}";
    assertThat(read(EngineFlavor.SGLANG, "/server_info", info).events()).isNull();
  }

  @Test
  void tensorRtLlmHasTheBlockSizeInUseInItsMetrics() {
    String info = "{'tokens_per_block':32}";
    WorkerFacts facts =
        read(EngineFlavor.TRTLLM, "/version", "{'version':'1.3.0rc27'}", "/server_info", info);
    assertThat(facts)
        .isEqualTo(new WorkerFacts("1.3.0rc27", 32, 0, 0, -1, null, false, null, Map.of()));
    facts =
        read(
            EngineFlavor.TRTLLM,
            "/server_info",
            info,
            "/prometheus/metrics",
            """
            trtllm_kv_cache_tokens_per_block{m='x'} 64.0
            trtllm_kv_cache_max_blocks 1.0123e4
            """);
    assertThat(facts)
        .isEqualTo(new WorkerFacts(null, 64, 10_123, 0, -1, null, false, null, Map.of()));
  }

  /** Reading it would take statistics from their consumer. */
  @Test
  void tensorRtLlmsDrainingMetricsAreNotAsked() {
    assertThat(FlavorProbe.of(EngineFlavor.TRTLLM).targets())
        .doesNotContain("/metrics", "/kv_cache_events", "/perf_metrics");
  }

  @Test
  void randomAnswersAreReadWithoutFailure() {
    long seed = Long.getLong("kvasir.test.seed", 50);
    List<String> keys =
        List.of("version", "page_size", "dp_size", "nnodes", "tokens_per_block", "kv_events");
    List<String> inner =
        List.of("endpoint_host", "endpoint_port_base", "topic", "block_size", "dp_size");
    List<String> values =
        List.of(
            "1",
            "-1",
            "0",
            "4096",
            "99999999999",
            "1.5",
            "null",
            "'*'",
            "'::'",
            "'h'",
            "'a b'",
            "''",
            "true",
            "[]",
            "{}",
            "65535",
            "5557");
    for (int i = 0; i < LongRuns.cases(4_000, 20_000); i++) {
      Random random = new Random(seed + i);
      String events = object(random, inner, values);
      String info = object(random, keys, values).replace("'kv_events':1", "'kv_events':" + events);
      info = random.nextInt(9) == 0 ? info.substring(random.nextInt(info.length())) : info;
      for (EngineFlavor flavor : EngineFlavor.values()) {
        WorkerFacts facts = read(flavor, "/server_info", info, "/version", info, "/metrics", info);
        WorkerSpec spec = WorkerSpec.parse("http://h:1,flavor=" + flavor.id());
        WorkerProfile profile = WorkerProfile.of(spec, facts);
        assertThat(profile.ranks()).as("seed %d: %s", seed, info).isBetween(1, 4096);
        assertThat(profile.events() == null || profile.events().ranks() == profile.ranks())
            .isTrue();
      }
    }
  }

  private static String object(Random random, List<String> keys, List<String> values) {
    StringBuilder json = new StringBuilder("{");
    for (String key : keys) {
      if (random.nextBoolean()) {
        json.append(json.length() == 1 ? "'" : ",'").append(key).append("':");
        json.append(key.equals("kv_events") ? "1" : values.get(random.nextInt(values.size())));
      }
    }
    return json.append('}').toString();
  }

  @Test
  void modelsWithAParentAreAdapters() {
    String json =
        "{'data':[{'id':'m','parent':null},{'id':'a','parent':'m'},{'id':'self','parent':'self'},"
            + "{'id':''},{'id':7},{'id':'\\ud800'},{},{'id':'b','parent':''}]}";
    ModelList list = ModelList.parse(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    assertThat(list.names()).containsExactlyInAnyOrder("m", "a", "self", "b");
    assertThat(list.adapters()).isEqualTo(Map.of("a", "m"));
    assertThat(ModelList.parse("nonsense".getBytes(StandardCharsets.UTF_8)).names()).isEmpty();
  }
}
