package io.kvasir.cli.option;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.cli.Outcome;
import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import io.kvasir.gateway.GatewaySettings;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.gateway.worker.DisaggDialect;
import io.kvasir.gateway.worker.DisaggSpec;
import io.kvasir.gateway.worker.WorkerRole;
import io.kvasir.gateway.worker.WorkerSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The YAML file of {@code trtllm-serve disaggregated}, and the options for roles of workers. */
class DisaggFileTest {

  private static final Path EXAMPLE =
      Path.of(System.getProperty("kvasir.root"), "examples", "disagg.yaml");
  private static final String SMALL =
      """
      context_servers:
        urls: ["c:1"]
      generation_servers:
        urls: ["g:2"]
      """;

  @TempDir private Path folder;

  private Path file(String text) throws IOException {
    return Files.writeString(folder.resolve("disagg.yaml"), text);
  }

  private static GatewaySettings settings(String... args) {
    return ParsedServe.of(Map.of(), args).settings();
  }

  private GatewaySettings read(String text) throws IOException {
    return settings("--disagg-config", file(text).toString());
  }

  private static List<String> names(GatewaySettings settings, WorkerRole role) {
    return settings.workers().stream()
        .filter(worker -> worker.disagg().role() == role)
        .map(WorkerSpec::name)
        .toList();
  }

  @Test
  void theExampleIsReadAsItIs() {
    GatewaySettings settings = settings("--disagg-config", EXAMPLE.toString());
    assertThat(settings.address().host()).isEqualTo("127.0.0.1");
    assertThat(settings.address().port()).isEqualTo(8000);
    assertThat(settings.proxy().maxAttempts()).isEqualTo(3);
    assertThat(names(settings, WorkerRole.PREFILL))
        .containsExactly("127.0.0.1:8001", "127.0.0.1:8002");
    assertThat(names(settings, WorkerRole.DECODE)).containsExactly("127.0.0.1:8003");
    assertThat(settings.workers())
        .allMatch(worker -> worker.disagg().dialect() == DisaggDialect.TRTLLM);
    assertThat(settings.workers()).extracting(WorkerSpec::poll).containsExactly(true, true, true);
    DisaggSettings disagg = settings.disagg();
    assertThat(disagg.nodeId()).isEqualTo(7);
    assertThat(disagg.style()).isEqualTo(Style.CONTEXT_FIRST);
    assertThat(disagg.maxLocalPrefillTokens()).isEqualTo(256);
    assertThat(disagg.decodeRouter())
        .isEqualTo(
            new RouterChoice(
                "kv_cache_aware", Map.of("load_weight", 0.5, "tokens_per_block", 64.0)));
    assertThat(disagg.prefillRouter())
        .isEqualTo(new RouterChoice("conversation", Map.of("match_threshold", 0.6)));
    assertThat(disagg.authKey()).isNull();
    assertThat(settings.router()).isEqualTo(RouterChoice.AUTO);
  }

  @Test
  void whatTheFileOmitsIsAsInTensorRtLlm() throws IOException {
    GatewaySettings settings = read(SMALL);
    assertThat(settings.address().host()).isEqualTo("localhost");
    assertThat(settings.address().port()).isEqualTo(8000);
    assertThat(settings.disagg().maxLocalPrefillTokens()).isEqualTo(-1);
    assertThat(settings.disagg().prefillRouter().name()).isEqualTo(RouterChoice.AUTO);
    assertThat(settings.disagg().nodeId()).isBetween(0, DisaggSettings.MAX_NODE_ID);
    assertThat(read(SMALL + "conditional_disagg_config: {}\n").disagg().maxLocalPrefillTokens())
        .isZero();
    assertThat(read(SMALL.replace("urls: [\"c", "router: {}\n  urls: [\"c")).disagg())
        .matches(disagg -> disagg.prefillRouter().name().equals("round_robin"));
  }

  @Test
  void flagsVariablesAndConfigOverrideTheFile() throws IOException {
    Path config = Files.writeString(folder.resolve("kvasir.yaml"), "disagg_node_id: 3\n");
    GatewaySettings settings =
        ParsedServe.of(
                Map.of("KVASIR_SCHEDULE_STYLE", "generation_first"),
                "--disagg-config",
                EXAMPLE.toString(),
                "--config",
                config.toString(),
                "--port",
                "0",
                "--decode",
                "http://d:1,flavor=trtllm",
                "--worker",
                "http://w:1,flavor=trtllm")
            .settings();
    assertThat(settings.address().port()).isZero();
    assertThat(settings.disagg().nodeId()).isEqualTo(3);
    assertThat(settings.disagg().style()).isEqualTo(Style.GENERATION_FIRST);
    assertThat(names(settings, WorkerRole.DECODE)).containsExactly("d:1");
    assertThat(names(settings, WorkerRole.PREFILL)).hasSize(2);
    assertThat(names(settings, WorkerRole.BOTH)).containsExactly("w:1");
  }

  @Test
  void rolesOfWorkersAreOptionsToo() {
    GatewaySettings settings =
        settings(
            "--prefill",
            "http://p:1,disagg=mooncake,bootstrap=b:9",
            "--worker",
            "http://d:1,role=generation,disagg=mooncake",
            "--prefill-router",
            "Conversation",
            "--prefill-router-args",
            "max_sessions=9",
            "--fleet-router",
            "cost");
    DisaggSpec prefill = settings.workers().get(1).disagg();
    assertThat(prefill.bootstrapUrl()).isEqualTo("http://b:9");
    assertThat(settings.workers().get(0).disagg().role()).isEqualTo(WorkerRole.DECODE);
    assertThat(settings.disagg().prefillRouter())
        .isEqualTo(new RouterChoice("conversation", Map.of("max_sessions", 9.0)));
    assertThat(settings.disagg().decodeRouter().name()).isEqualTo("cost");
    assertThat(settings.disagg().prefillTimeoutMs())
        .isEqualTo(DisaggSettings.DEFAULTS.prefillTimeoutMs());
  }

  @Test
  void keysOfSignaturesComeFromFilesAndStayOutOfSight() throws IOException {
    String secret = "s3cret-of-the-transfers";
    GatewaySettings settings = read(SMALL + "internal_request_auth_key: " + secret + "\n");
    assertThat(Objects.requireNonNull(settings.disagg().authKey()).bytes())
        .isEqualTo(secret.getBytes(StandardCharsets.UTF_8));
    assertThat(settings.toString()).doesNotContain(secret);
    assertThat(read(SMALL + "internal_request_auth_key: ' a phrase '\n").disagg().authKey())
        .matches(key -> new String(key.bytes(), StandardCharsets.UTF_8).equals(" a phrase "));
    String below = "cache_transceiver_config: {internal_request_auth_key: " + secret + "}\n";
    assertThat(read(SMALL + below).disagg().authKey()).isNotNull();

    Path key = Files.writeString(folder.resolve("key"), "other\n");
    Path file = file(SMALL + below);
    settings =
        settings("--disagg-config", file.toString(), "--disagg-auth-key-file", key.toString());
    assertThat(Objects.requireNonNull(settings.disagg().authKey()).bytes())
        .isEqualTo("other".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> read(SMALL + below + "internal_request_auth_key: else\n"))
        .hasMessageContaining("internal_request_auth_key must be the same wherever")
        .hasMessageNotContaining(secret);
  }

  @Test
  void keysOfEnginesAreListedAndCountWhereTheyMatter() throws IOException {
    ParsedServe parsed =
        ParsedServe.of(
            Map.of(),
            "--disagg-config",
            file("""
                    model: tiny
                    num_workers: 4
                    perf_metrics_max_requests: 0
                    tensor_parallel_size: 4
                    context_servers:
                      backend: pytorch
                      enable_attention_dp: true
                      kv_cache_config: {event_buffer_max_size: 1024}
                      urls: ["c:1"]
                    generation_servers:
                      urls: ["g:2"]
                    """)
                .toString());
    assertThat(parsed.settings().workers()).extracting(WorkerSpec::ranks).containsExactly(4, 0);
    assertThat(parsed.settings().workers())
        .extracting(WorkerSpec::poll)
        .containsExactly(true, false);
    assertThat(parsed.unused())
        .containsExactly(
            folder.resolve("disagg.yaml")
                + ": not used: model, num_workers, context_servers.backend");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          'hostnam: x' | :1: unknown key 'hostnam' (did you mean hostname?)
          'port: 80000' | :1: port must be an integer from 0 to 65535, not '80000'
          'max_retries: -1' | :1: max_retries must be an integer from 0 to 99, not '-1'
          'node_id: 1024' | :1: node_id must be an integer from 0 to 1023, not '1024'
          'schedule_style: gen_first' | :1: schedule_style must be one of context_first, generation_first, not 'gen_first'
          'conditional_disagg_config: {max_local_prefill: 9}' | :1: unknown key 'conditional_disagg_config.max_local_prefill'
          'conditional_disagg_config: {max_local_prefill_length: -1}' | :1: conditional_disagg_config.max_local_prefill_length must be an integer from 0 to 16777216, not '-1'
          'otlp_config: {otlp_traces_endpoint: x}' | :1: otlp_config is not supported: no traces are exported
          'metadata_server: {server_type: etcd}' | :1: metadata_server is not supported: workers are not read from etcd; list their urls
          'perf_metrics_max_requests: 1000' | :1: perf_metrics_max_requests is not supported: there is no /perf_metrics
          'port: [1]' | :1: port must be a single value
          'port: 1\nport: 2' | :2: port is already set in line 1
          'port: *p' | :1: port must be written out; aliases are not supported
          """)
  void wrongKeysAtTheTopAreOneLine(String text, String problem) throws IOException {
    requireProblem(text.replace("\\n", "\n") + "\n" + SMALL, problem);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          'urls: []' | :2: context_servers.urls must be a list of HOST:PORT
          'num_instances: 2' | :2: context_servers.urls must be a list of HOST:PORT
          'num_instances: 3\n  urls: ["a:1", "b:2"]' | :2: context_servers.num_instances must be the number of urls, 2, not 3
          'urls: ["a:1", "b:2"]' | :2: context_servers.num_instances must be the number of urls, 2, not 1 (the default)
          'urls: ["http://a:1"]' | :2: context_servers.urls must be HOST:PORT without a scheme and with a port from 1 to 65535, not 'http://a:1'
          'urls: ["a:0"]' | :2: context_servers.urls must be HOST:PORT without a scheme
          'num_instances: 2\n  urls: ["a:1", "a:1"]' | :3: context_servers.urls must have a:1 once
          'url: ["a:1"]' | :2: unknown key 'context_servers.url' (did you mean urls?)
          'urls: ["g:2"]' | generation_servers.urls must not have g:2, which context_servers has too: --worker names
          'urls: ["a:1"]\n  router: {type: round_robbin}' | :3: context_servers.router.type must be one of auto, round_robin,
          'urls: ["a:1"]\n  enable_attention_dp: yes' | :3: context_servers.enable_attention_dp must be true or false, not 'yes'
          'urls: ["a:1"]\n  tensor_parallel_size: x' | :3: context_servers.tensor_parallel_size must be an integer from 1 to
          'urls: ["a:1"]\n  max_batch_size: 0' | :3: context_servers.max_batch_size must be an integer from 1 to
          'urls: ["a:1"]\n  kv_cache_config: {event_buffer_max_size: abc}' | :3: context_servers.kv_cache_config.event_buffer_max_size must be an integer from 0 to
          'urls: ["a:1"]\n  router: {type: remote_http, remote_url: x}' | :3: context_servers.router.type remote_http is not supported
          'urls: ["a:1"]\n  router: {type: conversation, match: 1}' | :3: context_servers.router has an unknown key for conversation; known:
          'urls: ["a:1"]\n  router: {type: conversation, match_threshold: 2}' | :3: context_servers.router is wrong: match_threshold must be
          """)
  void wrongServersAreOneLine(String text, String problem) throws IOException {
    requireProblem(
        "context_servers:\n  "
            + text.replace("\\n", "\n")
            + "\n"
            + "generation_servers:\n  urls: [\"g:2\"]\n",
        problem);
  }

  @Test
  void bothListsAreNeeded() throws IOException {
    requireProblem("context_servers:\n  urls: [\"a:1\"]\n", ":1: generation_servers must have");
    requireProblem("[1]\n", ":1: must be a mapping of keys to values");
    Path missing = folder.resolve("none.yaml");
    assertThat(Outcome.of(Map.of(), "serve --disagg-config " + missing).err())
        .isEqualTo(missing + ": no such file\n");
  }

  private void requireProblem(String text, String problem) throws IOException {
    Path path = file(text);
    Outcome outcome = Outcome.of(Map.of(), "serve --disagg-config " + path);
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.err()).startsWith(path.toString()).contains(problem).hasLineCount(1);
  }
}
