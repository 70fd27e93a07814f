package io.kvasir.simulator.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.hash.HashFormat;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.Replay;
import io.kvasir.simulator.replay.ReplayProgress;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.workload.IntRange;
import io.kvasir.simulator.workload.LognormalTokens;
import io.kvasir.simulator.workload.MultiTurn;
import io.kvasir.simulator.workload.Starts;
import io.kvasir.simulator.workload.ThinkTime;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

/**
 * Compares reports with reviewed files. KVASIR_UPDATE_GOLDEN=1 rewrites the files, to be reviewed
 * again.
 */
class ReportsTest {

  private static final Path GOLDEN =
      Path.of(System.getProperty("kvasir.root"), "tests", "simulator", "src", "test", "golden");

  private static final ReportBasis BASIS =
      new ReportBasis("kvasir replay --sessions 10", "1.0 (commit 1234567, built 2026-01-02)");

  private static final AdpRouterKind[] COMPARED = {
    AdpRouterKind.DEFAULT, AdpRouterKind.KV_CACHE_AWARE
  };

  @Test
  void aComparisonOfTwoRoutersReadsAsReviewed() throws IOException {
    assertGolden("replay.txt", TextReport.of(reports(COMPARED)));
  }

  @Test
  void jsonOfOneRouterIsAnObjectAsReviewed() throws IOException {
    assertGolden("replay.json", json(reports(AdpRouterKind.KV_CACHE_AWARE)));
  }

  @Test
  void reportsOfSeveralInstancesReadAsReviewed() throws IOException {
    ReplaySettings each =
        settings(AdpRouterKind.KV_CACHE_AWARE, 2, 4096).withHashFormat(HashFormat.TRTLLM_V1);
    FleetSettings fleet =
        FleetSettings.of(3, "kv_cache_aware")
            .withArgs(Map.of("load_weight", 2))
            .withEventDelayNs(5_000_000);
    ReplayResult result =
        Replay.run(workload(), each, fleet, RankPools.Place.HOST, ReplayProgress.SILENT);
    List<ReplayReport> reports = List.of(report(workload(), result));

    assertGolden("layers.txt", TextReport.of(reports));
    assertGolden("layers.json", json(reports));
  }

  @Test
  void jsonOfSeveralRoutersIsAnArrayOfTheSameObjects() throws IOException {
    JsonNode both = new ObjectMapper().readTree(json(reports(COMPARED)));
    JsonNode one = new ObjectMapper().readTree(json(reports(AdpRouterKind.KV_CACHE_AWARE)));

    assertThat(both.isArray()).isTrue();
    assertThat(both).hasSize(2);
    assertThat(both.get(1)).isEqualTo(one);
  }

  @Test
  void noLocaleChangesAReport() throws IOException {
    Locale before = Locale.getDefault();
    String rejections = json(reports(AdpRouterKind.DEFAULT, 32));
    try {
      Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
      assertGolden("replay.txt", TextReport.of(reports(COMPARED)));
      assertGolden("replay.json", json(reports(AdpRouterKind.KV_CACHE_AWARE)));
      assertThat(json(reports(AdpRouterKind.DEFAULT, 32))).isEqualTo(rejections);
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void aReplayInWhichNothingWasServedHasNullsAndDashes() throws IOException {
    ReplayReport report = reports(AdpRouterKind.DEFAULT, 32).get(0);

    JsonNode json = new ObjectMapper().readTree(json(List.of(report)));
    assertThat(json.get("completed").asLong()).isZero();
    assertThat(json.get("rejected").asLong()).isEqualTo(json.get("requests").asLong());
    assertThat(json.get("rejections").get(0).get("reason").asText()).contains("pool");
    assertThat(json.get("tokenHitRate").isNull()).isTrue();
    assertThat(json.get("ttftMs").get("mean").isNull()).isTrue();
    assertThat(TextReport.of(List.of(report)))
        .contains("  rejected         request ")
        .containsPattern("token hit rate +-  \\[ +]  upper bound -");
  }

  @Test
  void aReportOfManyRanksStaysShort() {
    ReplayReport report = report(settings(AdpRouterKind.DEFAULT, 40, 4096));

    assertThat(TextReport.of(List.of(report)).lines().count()).isLessThan(50);
    assertThat(TextReport.of(List.of(report))).contains("(--format json lists all 40 ranks)");
  }

  private static List<ReplayReport> reports(AdpRouterKind... routers) {
    return Arrays.stream(routers).map(router -> reports(router, 4096).get(0)).toList();
  }

  private static List<ReplayReport> reports(AdpRouterKind router, int poolTokens) {
    return List.of(report(settings(router, 3, poolTokens)));
  }

  private static MultiTurn workload() {
    return new MultiTurn(
        new MultiTurn.Shape(
            10,
            new Starts.Closed(6, 0),
            200,
            new IntRange(2, 5),
            new LognormalTokens(90, 1),
            new IntRange(10, 30),
            new ThinkTime(ThinkTime.Distribution.EXPONENTIAL, 1, 1),
            42));
  }

  private static ReplayReport report(ReplaySettings settings) {
    return report(
        workload(), Replay.run(workload(), settings, RankPools.Place.HOST, ReplayProgress.SILENT));
  }

  private static ReplayReport report(MultiTurn workload, ReplayResult result) {
    return new ReplayReport(
        workload, 42, OptionalDouble.of(1 / 3.0), BASIS, withoutWallTime(result));
  }

  private static ReplaySettings settings(AdpRouterKind router, int ranks, int poolTokens) {
    return new ReplaySettings(ranks, poolTokens, 32).withRouter(router);
  }

  private static ReplayResult withoutWallTime(ReplayResult result) {
    return new ReplayResult(
        result.settings(),
        result.fleet(),
        result.apart(),
        result.requests(),
        result.foreignRequests(),
        result.completed(),
        result.rejections(),
        result.ranks(),
        result.outputTokens(),
        result.upperBoundCachedTokens(),
        result.decisions(),
        result.ttft(),
        result.itl(),
        result.queue(),
        result.goodRequests(),
        result.reuse(),
        result.firstTokens(),
        result.prefillNs(),
        result.virtualNs(),
        0);
  }

  private static String json(List<ReplayReport> reports) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    JsonReport.write(reports, bytes);
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static void assertGolden(String name, String actual) throws IOException {
    Path file = GOLDEN.resolve(name);
    if ("1".equals(System.getenv("KVASIR_UPDATE_GOLDEN"))) {
      Files.createDirectories(GOLDEN);
      Files.writeString(file, actual);
    }
    assertThat(actual).isEqualTo(Files.readString(file));
  }
}
