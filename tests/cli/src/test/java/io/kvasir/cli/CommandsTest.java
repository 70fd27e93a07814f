package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.kvasir.cli.command.CommandRunner;
import io.kvasir.cli.terminal.Console;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandsTest {

  private static final String SMALL =
      "replay --sessions 6 --turns 2-3 --concurrency 3 --ranks 2 --system-prompt-tokens 100";

  @TempDir Path folder;

  @Test
  void jsonHasTheKeysThatMachinesRelyOn() {
    Outcome outcome = run(SMALL + " --router kv_cache_aware --format json --seed 5");

    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.exitCode()).isZero();
    JsonNode report = outcome.json();
    for (String key :
        List.of(
            "router",
            "ranks",
            "requests",
            "completed",
            "rejected",
            "seed",
            "routedPerRank",
            "routedCv",
            "routedMaxOverMin",
            "routedMinOverMean",
            "inputTokens",
            "cachedTokens",
            "tokenHitRate",
            "upperBoundTokenHitRate",
            "outputTokensPerSecond",
            "virtualSeconds",
            "wallSeconds",
            "decisions",
            "evictedBlocks",
            "preemptions",
            "perRank",
            "config")) {
      assertThat(report.has(key)).as(key).isTrue();
    }
    for (String key : List.of("mean", "p50", "p90", "p95", "p99")) {
      assertThat(report.get("ttftMs").get(key).isNumber()).as(key).isTrue();
      assertThat(report.get("itlMs").get(key).isNumber()).as(key).isTrue();
      assertThat(report.get("queueMs").get(key).isNumber()).as(key).isTrue();
    }
    assertThat(report.has("traceBlockUpperBound")).as("no trace").isFalse();
    assertThat(report.get("router").asText()).isEqualTo("kv_cache_aware");
    assertThat(report.get("seed").asLong()).isEqualTo(5);
    assertThat(report.get("routedPerRank")).hasSize(2);
    assertThat(report.get("perRank")).hasSize(2);
    assertThat(report.get("config").get("sessions").asInt()).isEqualTo(6);
    assertThat(report.get("config").get("concurrency").isInt()).isTrue();
  }

  @Test
  void severalRoutersAreAnArrayAndSeedsRepeat() {
    String line = SMALL + " --format json";
    JsonNode first = run(line).json();

    assertThat(first).hasSize(2);
    assertThat(first.get(0).get("router").asText()).isEqualTo("default");
    assertThat(withoutWallTime(run(line).json())).isEqualTo(withoutWallTime(first));
    assertThat(withoutWallTime(run(line + " --seed 1").json()))
        .isNotEqualTo(withoutWallTime(first));
    assertThat(withoutWallTime(run(line + " --router kv_cache_aware").json()))
        .as("no router disturbs the next")
        .isEqualTo(withoutWallTime(first.get(1)));
  }

  @Test
  void textComparesTheRouters() {
    Outcome outcome = run(SMALL);

    assertThat(outcome.exitCode()).isZero();
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.out())
        .startsWith("Replay of multi_turn, seed 0\n")
        .contains("modelled", "upper bound", "-- default", "-- kv_cache_aware", "-- comparison");
    assertThat(outcome.out().lines().count()).isLessThanOrEqualTo(60);
  }

  @Test
  void aTraceIsReplayedInBothLoops() throws IOException {
    Path trace = folder.resolve("t.jsonl");
    Files.writeString(
        trace,
        """
        {"timestamp": 1000, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}
        {"timestamp": 9000, "input_length": 700, "output_length": 5, "hash_ids": [1, 3], "x": 1}
        """);

    Outcome open = run("replay --router default --format json --trace " + trace);
    Outcome fast = run("replay --router default --format json --speed 4 --trace " + trace);
    Outcome closed = run("replay --router default --format json --concurrency 1 --trace " + trace);

    assertThat(open.err()).isEqualTo(trace + ": ignored keys: x\n");
    assertThat(open.json().get("traceBlockUpperBound").asDouble()).isEqualTo(0.25);
    assertThat(open.json().get("virtualSeconds").asDouble()).isBetween(8.0, 8.1);
    assertThat(fast.json().get("virtualSeconds").asDouble()).isBetween(2.0, 2.1);
    assertThat(closed.json().get("virtualSeconds").asDouble()).isLessThan(0.2);
    assertThat(open.json().get("cachedTokens").asInt()).isEqualTo(512);
    assertThat(open.json().get("upperBoundTokenHitRate").asDouble()).isEqualTo(0.393846);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--workload shared_prefix --requests 40 --prefixes 3 --rate 20",
        "--workload shared_prefix --requests 40 --prefix-skew 0 --concurrency 4",
        "--workload uniform --requests 30 --user-tokens 100",
        "--workload uniform --requests 30 --rate 100 --speed 0.5",
        "--workload multi_turn --sessions 5 --rate 2 --think-time lognormal",
        "--sessions 5 --capacity-scheduler-policy max_utilization --waiting-queue-policy priority",
        "--sessions 5 --hash-format dynamo --tokens-per-block 16",
        "--sessions 5 --enable-block-reuse false",
        "--sessions 5 --mode context --ramp-seconds 3",
        "--workload uniform --requests 30 --mode context --kv-bytes-per-token 1000",
        "--sessions 5 --kv-cache-routing-load-balance-weight 0.5"
            + " --kv-cache-routing-match-rate-threshold 0"
            + " --kv-cache-routing-fair-share-multiplier 1.5"
            + " --kv-cache-routing-cold-start-warmup true",
      })
  void everyKindOfReplayRuns(String options) {
    Outcome outcome = run("replay --format json " + options);

    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.exitCode()).isZero();
    assertThat(outcome.json().get(1).get("completed"))
        .isEqualTo(outcome.json().get(1).get("requests"));
  }

  @Test
  void variablesStandInForOptionsAndFlagsWin() {
    Map<String, String> environment = Map.of("KVASIR_RANKS", "3", "KVASIR_CONCURRENCY", "2");
    String line = "replay --sessions 4 --router default --format json";

    assertThat(run(environment, line).json().get("ranks").asInt()).isEqualTo(3);
    assertThat(run(environment, line + " --ranks 5").json().get("ranks").asInt()).isEqualTo(5);
    assertThat(run(environment, line + " --rate 9").json().get("config").has("concurrency"))
        .isFalse();
    assertThat(run(Map.of("KVASIR_TRACE", "none"), line + " --workload multi_turn").exitCode())
        .isZero();
    assertThat(run(Map.of("KVASIR_RANKS", "-3"), line).err())
        .isEqualTo("KVASIR_RANKS must be an integer from 1 to 4096, not '-3'\n");
    assertThat(run(Map.of("KVASIR_NO_SUCH_OPTION", "1"), line).exitCode()).isZero();
  }

  @Test
  void standardOutputThatFailsIsAFailure() {
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("No space left on device");
          }
        };
    for (String line : List.of(SMALL, SMALL + " --format json", "replay --help", "version")) {
      ByteArrayOutputStream err = new ByteArrayOutputStream();
      int exitCode =
          new CommandRunner(console(full, err, Map.of()), FakeMachine.withoutGpu())
              .run(line.split(" "));

      assertThat(exitCode).as(line).isEqualTo(1);
      assertThat(err.toString(StandardCharsets.UTF_8))
          .isEqualTo("cannot write to standard output: No space left on device\n");
    }
  }

  @Tag("process")
  @Test
  void severalProcessesGiveTheReportOfOne() {
    String line = SMALL.replace("--ranks 2", "--ranks 4") + " --format json --seed 3";
    String processes = " --processes 2 --process-java-options=-Duser.language=tr";
    Outcome one = run(line);
    Outcome two = run(line + processes);
    assertThat(two.err()).isEmpty();
    assertThat(two.exitCode()).isZero();
    String wallSeconds = "\"wallSeconds\" *: *[^,}\\s]+";
    assertThat(two.out().replaceAll(wallSeconds, ""))
        .isEqualTo(one.out().replaceAll(wallSeconds, ""));
    assertThat(run(line + " --processes 5").err()).contains("--processes");
    assertThat(run(line + " --processes 2 --device cuda").err())
        .contains("--processes needs pools in host memory");
  }

  @Test
  void contextRanksLeaveTheAnswersToOthers() {
    String line = SMALL + " --format json --router kv_cache_aware --output-tokens 5-5";
    JsonNode whole = run(line).json();
    JsonNode report =
        run(line + " --mode context --kv-bytes-per-token 50000 --transfer-bandwidth 25").json();

    assertThat(whole.get("config").get("mode").asText()).isEqualTo("aggregated");
    assertThat(whole.get("config").has("transferBandwidth")).isFalse();
    assertThat(whole.get("perRank").get(0).has("peakInTransferRequests")).isFalse();
    JsonNode config = report.get("config");
    assertThat(config.get("mode").asText()).isEqualTo("context");
    assertThat(config.get("transferBandwidth").asDouble()).isEqualTo(25);
    assertThat(config.get("kvBytesPerToken").asInt()).isEqualTo(50_000);
    assertThat(config.get("generationMsPerToken").asDouble()).isEqualTo(10);
    assertThat(report.get("outputTokens")).isEqualTo(whole.get("outputTokens"));
    assertThat(report.get("itlMs").get("p50").asDouble()).isEqualTo(10);
    assertThat(report.get("perRank").get(0).has("peakInTransferRequests")).isTrue();
    assertThat(run(SMALL + " --mode context").out())
        .contains("context ranks, KV sent at 50.0 GB/s, answered elsewhere at 10.0 ms a token");
  }

  private static JsonNode withoutWallTime(JsonNode report) {
    JsonNode copy = report.deepCopy();
    if (copy.isArray()) {
      copy.forEach(each -> ((ObjectNode) each).remove("wallSeconds"));
    } else {
      ((ObjectNode) copy).remove("wallSeconds");
    }
    return copy;
  }

  private static Outcome run(String line) {
    return run(Map.of(), line);
  }

  private static Outcome run(Map<String, String> environment, String line) {
    return Outcome.of(environment, line);
  }

  private static Console console(
      OutputStream out, ByteArrayOutputStream err, Map<String, String> environment) {
    return new Console(
        InputStream.nullInputStream(),
        out,
        new PrintStream(err, true, StandardCharsets.UTF_8),
        false,
        environment);
  }

  @Test
  void aVariableCloseToThatOfAnOptionIsNoted() {
    Map<String, String> environment =
        Map.of("KVASIR_POOL_TOKEN", "64", "KVASIR_SHARED", "x", "KVASIR_MODEL", "y");
    assertThat(Outcome.of(environment, SMALL).err())
        .isEqualTo(
            "the variable KVASIR_POOL_TOKEN sets nothing (did you mean KVASIR_POOL_TOKENS?)\n");
  }

  @Test
  void aGatewayWithoutAnswersSaysThatNoRouterIsChosen() {
    String line =
        "serve --check --check-seconds 0 --port 0 --admin-port 0 --worker http://127.0.0.1:1";

    assertThat(run(line).err()).contains("kvasir: fleet router not chosen yet (no worker has");
    assertThat(run(line + " --fleet-router cost").err())
        .contains("kvasir: fleet router cost (no worker has");
  }

  @Test
  void aGatewayStartsWithTensorRtLlmsFile() {
    Path file = Path.of(System.getProperty("kvasir.root"), "examples", "disagg.yaml");
    Outcome outcome =
        run("serve --check --check-seconds 0 --port 0 --admin-port 0 --disagg-config " + file);
    assertThat(outcome.err())
        .startsWith(file + ": not used: backend\n")
        .contains("kvasir: workers      3 over HTTP");
  }

  @Test
  void thePageIsWrittenWhole() throws IOException {
    Path page = folder.resolve("page.html");
    Outcome outcome = run(SMALL + " --goodput ttft:100,tpot:30 --report " + page);
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.out()).contains("goodput", "keep ttft 100 ms, tpot 30 ms");
    assertThat(Files.readString(page)).startsWith("<!doctype html>").endsWith("</html>\n");
    assertThat(folder).isDirectoryContaining(file -> file.equals(page));
    assertThat(folder.resolve("page.html.partial")).doesNotExist();
    assertThat(run(SMALL + " --report " + folder.resolve("no/page.html")).exitCode()).isEqualTo(2);
  }

  @Test
  void theTimesOfStepsComeFromAFile() throws IOException {
    Path timing = folder.resolve("timing.json");
    String line = SMALL + " --router default --format json --step-timing " + timing;
    Files.writeString(timing, "{\"prefill_constant_ms\": 100, \"decode_floor_ms\": 30}");
    JsonNode slow = run(line).json();

    assertThat(slow.get("ttftMs").get("p50").asDouble())
        .isGreaterThan(
            run(SMALL + " --router default --format json").json().at("/ttftMs/p99").asDouble());
    assertThat(slow.at("/config/stepTiming/decodeFloorMs").asDouble()).isEqualTo(30);

    Files.writeString(timing, "{\"prefil_linear\": 1}");
    assertThat(run(line).err())
        .startsWith(
            "--step-timing "
                + timing
                + ": unknown key 'prefil_linear' (did you mean prefill_linear?)");
    Files.writeString(timing, "{\"prefill_linear\": -1}");
    assertThat(run(line).err()).contains(timing + ": prefillLinear must be");
    Files.writeString(timing, "[]");
    assertThat(run(line).err()).contains(timing + ": must be a JSON object");
  }

  @Test
  void enginesMayDoOtherThanExpected() {
    String line = SMALL + " --router default --format json";
    JsonNode usual = run(line + " --step-timing llama3-8b-a100").json();
    JsonNode slow = run(line + " --step-timing llama3-8b-a100 --slow 0=3@0-1e6").json();
    JsonNode other =
        run(line + " --step-timing llama3-8b-a100 --engine-timing dsv3-h800-rank").json();

    assertThat(usual.at("/config/stepTiming/prefillLinear").asDouble()).isEqualTo(0.0666);
    assertThat(usual.at("/config/engineTiming").isMissingNode()).isTrue();
    assertThat(other.at("/config/stepTiming")).isEqualTo(usual.at("/config/stepTiming"));
    assertThat(other.at("/config/engineTiming/prefillLinear").asDouble()).isEqualTo(0.248);
    assertThat(slow.at("/config/engineFaults").toString())
        .isEqualTo("[{\"rank\":0,\"factor\":3.0,\"fromSeconds\":0.0,\"toSeconds\":1000000.0}]");
    double p50 = usual.at("/ttftMs/p50").asDouble();
    assertThat(slow.at("/ttftMs/p50").asDouble()).isGreaterThan(1.5 * p50);
    assertThat(other.at("/ttftMs/p50").asDouble()).isGreaterThan(1.5 * p50);

    assertThat(run(line + " --step-timing llama4").err())
        .contains("--step-timing must be mocker, llama3-8b-a100,", "or a file, not 'llama4'");
    assertThat(run(line + " --hang 2@0-1").err())
        .contains("--hang must name ranks from 0 to 1, not '2'");
    for (String wrong : List.of("0", "a@0-1", "0@0-1-2")) {
      assertThat(run(line + " --hang " + wrong).err()).contains("--hang must be RANK@FROM-TO");
      assertThat(run(line + " --slow " + wrong.replace("@", "=2@")).err())
          .contains("--slow must be RANK=X@FROM-TO");
    }
  }

  @Test
  void routersMayNotSeeAllRequestsAsTheyAre() {
    String line = SMALL + " --router default --format json --fleet-router conversation --workers 2";
    JsonNode hidden =
        run(line + " --foreign-load 0.3 --forget-ids 0.5 --answers unknown:2000").json();
    assertThat(hidden.at("/config/answers").asText()).isEqualTo("unknown:2000");
    assertThat(hidden.at("/config/foreignLoad").asDouble()).isEqualTo(0.3);
    assertThat(hidden.at("/config/forgetIds").asDouble()).isEqualTo(0.5);
    assertThat(run(line).json().at("/config/foreignLoad").isMissingNode()).isTrue();

    assertThat(run(line + " --return 1@2.5").json().at("/returnSeconds/1").asDouble())
        .isEqualTo(2.5);
    assertThat(run(line + " --return 2@1").err())
        .contains("--return must name workers from 0 to 1");
    assertThat(run(line + " --return 0@1,1@1").err())
        .contains("--return must leave a worker that is there at first");
    assertThat(run(line + " --return 1@1,1@2").err())
        .contains("--return must name each worker once");
    assertThat(run(line + " --return 1@1 --foreign-load 0.1").err())
        .contains("--foreign-load and --return exclude each other");
    String roles = "replay --prefill-workers 2 --decode-workers 2 --return 1@1";
    assertThat(run(roles).err()).contains("--return and --prefill-workers");
    assertThat(run(line + " --return 1").err())
        .contains("--return must be WORKER@SECONDS, not '1'");

    assertThat(run(line + " --forget-ids 2").err())
        .contains("--forget-ids must be a number from 0.0 to 1.0, not '2'");
    assertThat(run(line + " --answers short").err())
        .contains("--answers must be known, unknown or unknown:N, not 'short'");
    assertThat(run(SMALL + " --foreign-load 0.1").err())
        .contains("--foreign-load needs --workers, and workers without roles");
    assertThat(run("bench policies --foreign-load 0.1").err())
        .contains("--foreign-load needs --fleet-router, and workers without roles");
  }
}
