package io.kvasir.cli.top;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What counters gained between two looks. */
class RatesTest {

  private static final List<String> ALL = List.of();
  private static final String UP = "process_uptime_seconds ";
  private static final String BUCKET = "kvasir_time_to_first_token_seconds_bucket{model=\"m\",le=";

  private static String requests(int status, int count) {
    return "kvasir_requests_total{endpoint=\"chat\",status=\"" + status + "\"} " + count;
  }

  private static String tokens(String kind, String worker, String rank, int count) {
    return "kvasir_prefix_cache_%s_total{dp_rank=\"%s\",model=\"m\",worker_id=\"%s\"} %d"
        .formatted(kind, rank, worker, count);
  }

  @Test
  void gainsAreCountedForEachSecond() {
    Look before = Looks.counters(10, UP + "100", requests(200, 1_000), requests(500, 3));
    Look now = Looks.counters(14, UP + "1.04E2", requests(200, 1_020), requests(500, 3));
    assertThat(Rates.between(before, now).perSecond(Metrics.REQUESTS, ALL)).isEqualTo(5);
  }

  @Test
  void nothingIsKnownWithoutAnEarlierLook() {
    Rates rates = Rates.between(null, Looks.counters(1, requests(200, 7)));
    assertThat(rates.perSecond(Metrics.REQUESTS, ALL)).isNaN();
    assertThat(rates.hits(ALL)).isNaN();
    assertThat(rates.firstTokenMs(0.5)).isNaN();
  }

  @Test
  void aCounterThatBecameSmallerHasRestarted() {
    Look before = Looks.counters(0, UP + "100", requests(200, 1_000), requests(500, 10));
    Look now = Looks.counters(10, UP + "110", requests(200, 40), requests(500, 20));
    assertThat(Rates.between(before, now).perSecond(Metrics.REQUESTS, ALL)).isEqualTo(5);
  }

  @Test
  void aWorkerThatHasGoneTakesNothingAway() {
    Look before =
        Looks.counters(
            0, UP + 100, tokens("queries", "a:1", "0", 900), tokens("queries", "b:1", "0", 100));
    Look now = Looks.counters(1, UP + 101, tokens("queries", "b:1", "0", 150));
    assertThat(Rates.between(before, now).perSecond(Metrics.PROMPT_TOKENS, ALL)).isEqualTo(50);
  }

  @Test
  void aGatewayThatStartedInBetweenCountsFromZeroEvenWhereItHasCountedFurther() {
    Look before = Looks.counters(0, UP + 5, requests(200, 10));
    Look now = Looks.counters(100, UP + 50, requests(200, 300));
    assertThat(Rates.between(before, now).perSecond(Metrics.REQUESTS, ALL)).isEqualTo(3);
  }

  @Test
  void hitsAreOfARankAWorkerAndAll() {
    Look before = Looks.counters(0, UP + 100);
    Look now =
        Looks.counters(
            1,
            UP + 101,
            tokens("queries", "a:1", "0", 100),
            tokens("hits", "a:1", "0", 25),
            tokens("queries", "a:1", "1", 100),
            tokens("hits", "a:1", "1", 75),
            tokens("queries", "b:1", "any", 200));
    Rates rates = Rates.between(before, now);
    assertThat(rates.hits(List.of("a:1", "1"))).isEqualTo(0.75);
    assertThat(rates.hits(List.of("a:1"))).isEqualTo(0.5);
    assertThat(rates.hits(List.of("b:1"))).isZero();
    assertThat(rates.hits(ALL)).isEqualTo(0.25);
    assertThat(rates.hits(List.of("c:1"))).isNaN();
  }

  @Test
  void firstTokensAreThoseOfTheInterval() {
    Look before =
        Looks.counters(
            0, UP + 9, BUCKET + "\"0.1\"} 50", BUCKET + "\"0.2\"} 50", BUCKET + "\"+Inf\"} 50");
    Look now =
        Looks.counters(
            1, UP + 10, BUCKET + "\"0.1\"} 60", BUCKET + "\"0.2\"} 68", BUCKET + "\"+Inf\"} 70");
    Rates rates = Rates.between(before, now);
    assertThat(rates.firstTokenMs(0.25)).isCloseTo(50, within(1e-6));
    assertThat(rates.firstTokenMs(0.7)).isCloseTo(150, within(1e-6));
    assertThat(rates.firstTokenMs(0.95)).as("above all bounds").isCloseTo(200, within(1e-6));
    assertThat(Rates.between(now, now).firstTokenMs(0.5)).isNaN();
  }

  @Test
  void linesThatAreNoMetricsArePassedOver() {
    Look now =
        Looks.counters(
            1, UP + 10, "# HELP x", "", "kvasir_requests_total", "kvasir_requests_total{ NaN");
    assertThat(now.metrics().sum(Metrics.REQUESTS)).isZero();
    assertThat(now.metrics().sum(Metrics.UPTIME)).isEqualTo(10);
  }
}
