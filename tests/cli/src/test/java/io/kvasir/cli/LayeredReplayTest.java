package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.cli.command.CommandRunner;
import io.kvasir.cli.terminal.Console;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LayeredReplayTest {

  private static final String SMALL =
      "replay --sessions 12 --turns 2-3 --concurrency 6 --ranks 2 --system-prompt-tokens 100"
          + " --router kv_cache_aware --format json";

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(String line) {
    out.reset();
    err.reset();
    Console console =
        new Console(
            InputStream.nullInputStream(),
            out,
            new PrintStream(err, true, StandardCharsets.UTF_8),
            false,
            Map.of());
    return new CommandRunner(console, FakeMachine.withoutGpu()).run(line.split(" "));
  }

  private String errors() {
    return err.toString(StandardCharsets.UTF_8);
  }

  private JsonNode report(String line) throws IOException {
    assertThat(run(line)).as(errors()).isZero();
    return new ObjectMapper().readTree(out.toByteArray());
  }

  /** Columns have the names of the policies that differ. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --fleet-router round_robin,conversation | round_robin +conversation
          --fleet-router round_robin,conversation --router default,kv_cache_aware | round_robin/default +conversation/default +round_robin/kv_cache_aware +conversation/kv_cache_aware
          --fleet-router conversation --router default,kv_cache_aware | default +kv_cache_aware
          --fleet-router round_robin,cost --ranks 1 | round_robin +cost
          """)
  void policiesAreCompared(String options, String names) {
    String line = SMALL.replace("--router kv_cache_aware --format json", "");
    String ranks = options.contains("--ranks") ? line.replace("--ranks 2 ", "") : line;
    String router =
        options.contains("--router ") || options.contains("--ranks") ? "" : " --router default";
    assertThat(run((ranks + "--workers 2 " + options + router).strip())).as(errors()).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8)).containsPattern("\n  router +" + names);
  }

  /** Where the ADP router changes nothing, or there is one worker, nothing is compared unasked. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--workers 1 --ranks 2 --fleet-router round_robin | 1",
        "--workers 1 --ranks 2 --fleet-router cost | 1",
        "--workers 1 --ranks 1 --fleet-router conversation | 1",
        "--workers 2 --ranks 2 --fleet-router projected | 1",
        "--workers 2 --ranks 2 --fleet-router round_robin | 2",
        "--workers 1 --ranks 2 --fleet-router round_robin,cost | 2",
        "--workers 1 --ranks 2 --fleet-router cost --router default,kv_cache_aware | 2",
      })
  void aFleetRouterOverOneWorkerIsOneColumn(String options, int columns) throws IOException {
    String line = SMALL.replace("--router kv_cache_aware ", "").replace("--ranks 2 ", "");
    JsonNode report = report(line + " " + options);

    assertThat(report.isArray() ? report.size() : 1).isEqualTo(columns);
  }

  @ParameterizedTest
  @ValueSource(strings = {"round_robin", "load_balancing", "kv_cache_aware", "conversation"})
  void aReportOfSeveralInstancesSaysWhoWentWhere(String router) throws IOException {
    JsonNode report = report(SMALL + " --workers 3 --fleet-router " + router);

    assertThat(report.get("workers").asInt()).isEqualTo(3);
    assertThat(report.get("ranks").asInt()).as("of each instance").isEqualTo(2);
    assertThat(report.get("fleetRouter").asText()).isEqualTo(router);
    assertThat(report.get("routedPerWorker")).hasSize(3);
    assertThat(report.get("routedPerRank")).hasSize(6);
    assertThat(report.get("perRank")).hasSize(6);
    assertThat(report.get("perRank").get(3).get("worker").asInt()).isEqualTo(1);
    assertThat(report.get("perRank").get(3).get("rank").asInt()).isEqualTo(1);
    for (int instance = 0; instance < 3; instance++) {
      assertThat(report.get("routedPerWorker").get(instance).asLong())
          .isEqualTo(
              report.get("routedPerRank").get(2 * instance).asLong()
                  + report.get("routedPerRank").get(2 * instance + 1).asLong());
    }
    for (String key : List.of("workerCv", "workerMaxOverMin", "workerMinOverMean")) {
      assertThat(report.get(key).isNumber()).as(key).isTrue();
    }
    long decisions = 0;
    for (JsonNode count : report.get("fleetDecisions")) {
      decisions += count.asLong();
    }
    assertThat(decisions).isEqualTo(report.get("requests").asLong());
    assertThat(report.get("completed")).isEqualTo(report.get("requests"));
  }

  @Test
  void rolesAreReportedApart() throws IOException {
    JsonNode report = report(SMALL + " --prefill-workers 1 --decode-workers 2");

    assertThat(report.get("prefillWorkers").asInt()).isEqualTo(1);
    assertThat(report.get("decodeWorkers").asInt()).isEqualTo(2);
    assertThat(report.get("prefillRouter").asText()).isEqualTo("projected");
    assertThat(report.get("prefillDecisions")).isNotEmpty();
    assertThat(report.get("eventDelayMs").isNumber()).isTrue();
    assertThat(report.get("perRank")).hasSize(6);
    assertThat(report.fieldNames())
        .toIterable()
        .as("of one fleet")
        .doesNotContain("workers", "fleetRouter", "fleetDecisions", "routedPerWorker", "workerCv");
    assertThat(report.get("routedPerRank")).hasSize(6);
    assertThat(report.has("routedCv")).as("over ranks of different roles").isFalse();
    assertThat(report.get("prefillRankCv").isNumber()).isTrue();
    assertThat(report.get("decodeRankMinOverMean").isNumber()).isTrue();
  }

  @Test
  void theSpreadOverRanksIsThatOfEachRole() {
    String line = SMALL.replace(" --format json", " --prefill-workers 1 --decode-workers 2");

    assertThat(run(line)).as(errors()).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8))
        .containsPattern("\n  balance +prompts per prefill rank: CV \\d\\.\\d+, max/min ")
        .containsPattern("\n {21}requests per decode rank: CV \\d\\.\\d+, max/min ");
  }

  @Test
  void severalInstancesTakeTurnsUnlessToldOtherwise() throws IOException {
    assertThat(report(SMALL + " --workers 2").get("fleetRouter").asText()).isEqualTo("round_robin");
  }

  @Test
  void oneInstanceThatNobodyChoosesIsReportedAsEver() throws IOException {
    JsonNode report = report(SMALL + " --workers 1");

    for (String key : List.of("workers", "fleetRouter", "routedPerWorker")) {
      assertThat(report.has(key)).as(key).isFalse();
    }
    assertThat(report.get("perRank").get(0).has("worker")).isFalse();
  }

  @Test
  void fleetRoutersOverOneWorkerAreNoted() {
    String line = SMALL.replace(" --format json", "");

    assertThat(run(line + " --fleet-router round_robin,conversation")).isZero();
    assertThat(errors())
        .isEqualTo("one worker: fleet routers make no difference; add --workers N\n");
    assertThat(out.toString(StandardCharsets.UTF_8)).contains("1 worker of 2 ranks");
    assertThat(run(line + " --workers 2")).isZero();
    assertThat(errors()).isEmpty();
    assertThat(run(line + " --fleet-router projected")).isZero();
    assertThat(errors()).as("it chooses among two ranks").isEmpty();
  }

  @Test
  void aTermThatIsLeftOutIsShown() {
    String line = SMALL.replace("--router kv_cache_aware --format json", "--router projected");

    assertThat(run(line + " --projected-omitted-term queue")).as(errors()).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8)).contains("-- projected without queue --");
    String fleet = " --workers 2 --fleet-router projected --fleet-router-args omitted_term=work";
    assertThat(run(line + fleet)).as(errors()).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8).replace("\n", " "))
        .contains("2 workers of 2 ranks, fleet router projected, args omitted_term=work");
  }

  @Test
  void blocksAreNamedAsTheServeRouterKnowsThem() throws IOException {
    String line = SMALL + " --workers 2 --fleet-router kv_cache_aware";

    assertThat(report(line).get("config").get("hashFormat").asText()).isEqualTo("trtllm-v1");
    assertThat(run(line + " --hash-format dynamo")).isEqualTo(2);
    assertThat(errors())
        .contains("--hash-format must be trtllm-v1 with --fleet-router kv_cache_aware");
  }

  @Test
  void otherRoutersAreAskedAndReported() throws IOException {
    String line = SMALL + " --workers 2 --fleet-router load_balancing";
    JsonNode report = report(line + " --what-if round_robin,conversation");

    JsonNode rows = report.get("whatIf");
    assertThat(rows.findValuesAsText("fleetRouter"))
        .containsExactly("load_balancing", "round_robin", "conversation");
    for (JsonNode row : rows) {
      long placed = 0;
      for (JsonNode count : row.get("routedPerWorker")) {
        placed += count.asLong();
      }
      assertThat(placed).isEqualTo(report.get("requests").asLong());
      assertThat(row.get("tokenHitRate").asDouble()).isBetween(0.01, 1.0);
    }
    assertThat(rows.get(0).get("routedPerWorker")).isEqualTo(report.get("routedPerWorker"));
    assertThat(rows.get(1).get("workerCv").asDouble()).isLessThan(0.02);
    assertThat(report(line).has("whatIf")).isFalse();
    assertThat(run(line.replace(" --format json", "") + " --what-if round_robin")).isZero();
    assertThat(out.toString(StandardCharsets.UTF_8)).contains("on virtual ranks");
  }

  @Test
  void argsReachTheServeRouter() throws IOException {
    String line = SMALL + " --workers 2 --fleet-router kv_cache_aware";

    JsonNode loaded =
        report(line + " --fleet-router-args load_weight=1000,track_routed_blocks=false");

    assertThat(loaded.get("routedPerWorker")).isNotEqualTo(report(line).get("routedPerWorker"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--workers 0 | --workers must be an integer from 1 to 1024, not '0'",
        "--fleet-router default | --fleet-router must be one of round_robin, load_balancing,",
        "--workers 2 --event-delay-ms -1 | --event-delay-ms must be a number from 0",
        "--workers 2 --processes 2 | --processes must be 1 with --workers or --fleet-router",
        "--fleet-router-args load_weight=1 | --fleet-router-args needs a fleet: --workers above 1 or",
        "--event-delay-ms 5 --workers 1 | --event-delay-ms needs a fleet: --workers above 1 or",
        "--what-if cost | --what-if needs a fleet: --workers above 1 or",
        "--workers 2 --what-if best | --what-if must be one of round_robin, load_balancing,",
        "--workers 2 --what-if polled | --what-if must not name polled, which needs metrics of engines",
        "--workers 2 --what-if kv_cache_aware | --what-if must not name kv_cache_aware, which needs",
        "--metric-delay-ms 5 | --metric-delay-ms needs a fleet: --workers above 1 or",
        "--metric-interval-ms 5 | --metric-interval-ms needs a fleet: --workers above 1 or",
        "--fleet-router kv_cache_aware --fleet-router-args load_weight=1f | must be a number, not 1f",
        "--workers 2 --fleet-router-args x=1 | --fleet-router-args is wrong: x is not known to",
        "--workers 2 --fleet-router-args x | --fleet-router-args must be KEY=VALUE",
        "--fleet-router conversation --fleet-router-args match_threshold=2 | match_threshold must be",
        "--fleet-router kv_cache_aware --fleet-router-args tokens_per_block=20 | divided by, 32",
      })
  void wrongUseIsNamed(String options, String message) {
    assertThat(run(SMALL + " " + options)).isEqualTo(2);
    assertThat(errors()).contains(message);
    assertThat(errors().lines()).hasSize(1);
  }

  /** TensorRT-LLM's policy sends all sessions where the system prompt is, whatever waits there. */
  @Test
  void aJamIsNamed() {
    String line =
        "replay --workers 4 --ranks 1 --router default --sessions 120 --turns 3-8 --concurrency 96"
            + " --pool-tokens 40000 --system-prompt-tokens 4000 --ramp-seconds 20 --fleet-router ";

    assertThat(Outcome.of(Map.of(), line + "kv_cache_aware").out())
        .containsPattern("  jam +one request in 20 waited for more than \\d+ s, while rank \\d");
    assertThat(Outcome.of(Map.of(), line + "projected").out()).doesNotContain("  jam ");
  }
}
