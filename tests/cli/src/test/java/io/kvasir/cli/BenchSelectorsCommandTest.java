package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.fleet.router.FleetRouterKind;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchSelectorsCommandTest {

  private static final String SMALL =
      "--requests 40 --concurrency 2,4 --burst 30 --input-tokens 600 --output-tokens 10"
          + " --prefixes 3 --workers 3 --seeds 1,2 --jobs 1";

  private static Outcome run(String options) {
    return Outcome.of(Map.of(), "bench selectors " + options);
  }

  @Test
  void selectorsAreComparedInOneTable() {
    Outcome text = run(SMALL);
    assertThat(text.err()).isEmpty();
    assertThat(text.exitCode()).isZero();
    assertThat(text.out().lines().toList()).hasSize(2 + 2 * 3 * 5);
    assertThat(text.out())
        .startsWith("| lengths | requests | in flight | router | TTFT p50 ms |")
        .contains("\n| fixed | 40 | 2 | projected | ")
        .contains("\n| varied | 30 | 30 | projected | ")
        .contains("\n|  |  |  | polled | ");
  }

  @Test
  void everyFleetRouterCanBeCompared() {
    String options =
        "--requests 8 --concurrency 2 --burst 0 --input-tokens 600 --output-tokens 4 --workers 2"
            + " --seeds 1 --jobs 1 --fleet-router ";
    for (String router : FleetRouterKind.OWN) {
      Outcome text = run(options + router);
      assertThat(text.err()).as(router).isEmpty();
      assertThat(text.exitCode()).as(router).isZero();
      assertThat(text.out()).contains("| fixed | 8 | 2 | " + router + " | ");
    }
  }

  @Test
  void allThatTieAreBold() {
    Outcome text =
        run(
            "--requests 8 --concurrency 2 --burst 0 --input-tokens 600 --output-tokens 4"
                + " --workers 1 --seeds 1 --jobs 1 --fleet-router round_robin,load_balancing");
    assertThat(text.out().lines().skip(2)).hasSize(4).allMatch(line -> line.contains("**"));
  }

  @Test
  void helpExplainsTheTable() {
    assertThat(run("--help").out())
        .contains(
            "any of round_robin,", "Behind prompts: share", "Bold: the lowest", "CV, max/min");
  }

  @Test
  void jsonSaysWhatWasSetAndRepeats() {
    String options =
        SMALL
            + " --fleet-router approximate,round_robin --event-delay-ms 7 --metric-delay-ms 8"
            + " --metric-interval-ms 9 --format json";
    JsonNode json = run(options).json();
    assertThat(json.get("eventDelayMs").doubleValue()).isEqualTo(7);
    assertThat(json.get("metricDelayMs").doubleValue()).isEqualTo(8);
    assertThat(json.get("metricIntervalMs").doubleValue()).isEqualTo(9);
    assertThat(json.get("instances").intValue()).isEqualTo(3);
    assertThat(json.get("loads")).hasSize(6);
    JsonNode burst = json.get("loads").get(2);
    assertThat(burst.get("requests")).isEqualTo(burst.get("concurrency"));
    assertThat(burst.at("/selectors/0/selector").textValue()).isEqualTo("approximate");
    assertThat(burst.at("/selectors/0/ttftP95Ms/mean").doubleValue()).isPositive();
    assertThat(burst.at("/selectors/1/routedCv/mean").doubleValue()).isZero();
    assertThat(run(options).json()).isEqualTo(json);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--fleet-router best | --fleet-router must be one of round_robin, load_balancing, kv_cache_aware,"
            + " conversation, cost, approximate, polled, projected, affinity, not 'best'",
        "--fleet-router polled,polled | --fleet-router must name each value once, not 'polled,polled'",
        "--concurrency 0 | --concurrency must be an integer from 1 to 1000000, not '0'",
        "--requests none | --requests must be an integer from 1 to 1000000, not 'none'",
        "--burst -1 | --burst must be an integer from 0 to 1000000, not '-1'",
        "--input-tokens 1 | --input-tokens must be an integer from 2 to 1048576, not '1'",
        "--prefixes 0 | --prefixes must be an integer from 1 to 1000000, not '0'",
        "--workers 0 | --workers must be an integer from 1 to 1024, not '0'",
        "--pool-tokens 10 | --pool-tokens must be an integer from 64 to 2147483647, not '10'",
        "--event-delay-ms -1 | --event-delay-ms must be a number from 0.0 to 3600000.0, not '-1'",
        "--metric-delay-ms x | --metric-delay-ms must be a number from 0.0 to 3600000.0, not 'x'",
        "--metric-interval-ms 0 | --metric-interval-ms must be a number from 0.001 to 3600000.0,"
            + " not '0'",
        "--router-ttl-secs 0 | --router-ttl-secs must be a number from 0.001 to 86400.0, not '0'",
        "--kv-overlap-score-weight -1 | --kv-overlap-score-weight must be a number from 0.0 to"
            + " 1000.0, not '-1'",
        "--seeds 1,1 | --seeds must name each value once, not '1,1'",
      })
  void wrongUsageIsOneLineAndExitCodeTwo(String options, String error) {
    Outcome outcome = run(options);
    assertThat(outcome.err()).isEqualTo(error + "\n");
    assertThat(outcome.out()).isEmpty();
    assertThat(outcome.exitCode()).isEqualTo(2);
  }
}
