package io.kvasir.benchmarks.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ProxyBenchReportTest {

  private static final ServerFigures DIRECT =
      new ServerFigures(Double.NaN, 6000, 30, 100, 200, Double.NaN, 50_000, Double.NaN);
  private static final ServerFigures NGINX =
      new ServerFigures(25, 6000, 130, 600, 900, 300, 12_000, 20);

  @Test
  void ratiosAreOfTheSameRoundWithoutTheEnginesShare() {
    List<ProxyRound> rounds = List.of(round(50, 1100, 9000), round(75, 1600, 6000));
    assertThat(ProxyMetric.CPU_PER_CHUNK.ratio(rounds)).isEqualTo(new RoundSpread(2.5, 2, 3));
    assertThat(ProxyMetric.ADDED_TO_FIRST_BYTE.ratio(rounds)).isEqualTo(new RoundSpread(2.5, 2, 3));
    assertThat(ProxyMetric.REQUESTS_PER_SECOND.ratio(rounds))
        .isEqualTo(new RoundSpread(0.625, 0.5, 0.75));
    assertThat(ProxyBenchText.table(rounds))
        .contains(
            "62.5 (50.0 to 75.0)", "2.50 (2.00 to 3.00)  at most 3.5 (goal 2)    kept", "missed");
  }

  @Test
  void whatMatchingAddsIsOfTheSameRound() {
    List<ProxyRound> rounds = List.of(round(50, 1100, 9000), round(75, 1600, 6000));
    assertThat(ProxyBenchText.matching(rounds))
        .contains("7 (7 to 7)", "100 (100 to 100)", "11.0 (11.0 to 11.0)", "-2 (-2 to -2)");
    ProxyRound without = new ProxyRound(DIRECT, NGINX, NGINX, null, null, null);
    assertThat(ProxyBenchText.matching(List.of(without))).isEmpty();
    assertThat(ProxyBenchText.twoLegs(List.of(without))).isEmpty();
  }

  @Test
  void twoLegsAreComparedWithOneOfTheSameRound() {
    List<ProxyRound> rounds = List.of(round(50, 1100, 9000), round(75, 1600, 6000));
    assertThat(ProxyBenchText.twoLegs(rounds))
        .contains("80.0 (80.0 to 80.0)  1.60 (1.60 to 1.60)", "0.50 (0.50 to 0.50)");
  }

  @Test
  void aMissedBarFailsAndAMissedGoalDoesNot() {
    assertThat(report(List.of(round(50, 3000, 9000))).isKept()).isTrue();
    assertThat(report(List.of(round(88, 700, 9000))).isKept()).isFalse();
    assertThat(report(List.of(round(50, 700, 5999))).isKept()).isFalse();
    assertThat(new IdleMemory(1, 1, 200_000_001, 1, true).isKept()).isFalse();
    assertThat(new IdleMemory(1, 1, 200_000_000, 1, false).isKept()).isFalse();
    assertThat(growth(30_000_000, 90_000_000, 31_000_000).isFlat()).isTrue();
    assertThat(growth(30_000_000, 31_000_000, 33_000_000).isFlat()).isFalse();
  }

  @Test
  void jsonHasAllParts() throws IOException {
    ProxyBenchReport report =
        new ProxyBenchReport(
            "here",
            List.of(round(50, 1100, 9000)),
            new IdleMemory(2000, 6, 50, 100, true),
            growth(1, 2));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    report.writeJson(out);
    LoadReport json = LoadReport.parse(out.toString(StandardCharsets.UTF_8));
    assertThat(json.number("metrics.cpuUsPerChunk.ratio.median")).isEqualTo(2);
    assertThat(json.number("metrics.cpuUsPerRequest.newPrompts.median")).isEqualTo(90);
    assertThat(json.number("rounds.0.matching.cpuUsPerRequest")).isEqualTo(61);
    assertThat(json.number("metrics.cpuUsPerRequest.twoLegs.median")).isEqualTo(80);
    assertThat(json.number("metrics.cpuUsPerStream.twoLegs.median")).isEqualTo(770);
    assertThat(json.number("rounds.0.kvasir.requestsPerSecond")).isEqualTo(9000);
    assertThat(json.number("idle.heapBytes")).isEqualTo(50);
    assertThat(json.number("growth.tenths.1.heapBytes")).isEqualTo(2);
    try (JsonParser parser = new JsonFactory().createParser(out.toByteArray())) {
      while (parser.nextToken() != null) {
        assertThat(parser.getText()).isNotEqualTo("NaN");
      }
    }
  }

  private static ProxyRound round(double cpuUs, double firstByteUs, double requestsPerSecond) {
    return new ProxyRound(
        DIRECT,
        NGINX,
        new ServerFigures(cpuUs, 6000, 230, firstByteUs, 2000, 700, requestsPerSecond, 50),
        new ServerFigures(cpuUs, 6000, 230, firstByteUs + 7, 2000, 710, requestsPerSecond - 1, 61),
        new ServerFigures(
            cpuUs, 6000, 230, firstByteUs + 100, 2000, 720, requestsPerSecond - 2, 90),
        new ServerFigures(
            cpuUs, 6000, 230, firstByteUs + 300, 2000, 770, requestsPerSecond / 2, 80));
  }

  private static ProxyBenchReport report(List<ProxyRound> rounds) {
    return new ProxyBenchReport("here", rounds, null, null);
  }

  private static GrowthFigures growth(long... heapBytes) {
    return new GrowthFigures(
        LongStream.of(heapBytes).mapToObj(heap -> new GrowthFigures.Tenth(1, heap, 100)).toList());
  }
}
