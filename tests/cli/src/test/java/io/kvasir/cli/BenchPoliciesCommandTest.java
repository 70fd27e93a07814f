package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchPoliciesCommandTest {

  private static final Pattern FIGURE =
      Pattern.compile("data-json=\"(\\d+)\\.([^\"]+)\"><span>([^<]*)</span>");

  /** Two modes and two pools. */
  private static final String FOUR_CASES =
      "bench policies --mode aggregated,context --load 2@0.4 --pool-tokens 60000,300000 --seeds 1"
          + " --router default,projected";

  @TempDir private Path folder;

  private static Outcome run(String line) {
    return Outcome.of(Map.of(), line);
  }

  @Test
  void aTraceThatIsTooShortForALoadIsRefused() {
    Path trace = Path.of(System.getProperty("kvasir.root"), "examples", "trace.jsonl");
    Outcome refused =
        run("bench policies --load 8@0.5 --seeds 1 --pool-tokens 250000 --trace " + trace);
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.err())
        .contains("trace.jsonl: 60 requests are too few for load 8@0.5")
        .doesNotContain("internal error");
  }

  /** 400 prompts; some begin alike. */
  private Path trace() throws IOException {
    Path trace = folder.resolve("t.jsonl");
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 400; i++) {
      lines.append(
          String.format(
              "{\"timestamp\": %d, \"input_length\": 1500, \"output_length\": 5, \"hash_ids\":"
                  + " [%d, %d, %d]}%n",
              i * 200, i % 7, 100 + i % 21, 1000 + i));
    }
    return Files.writeString(trace, lines);
  }

  @Test
  void routersAreComparedInOneTable() throws IOException {
    String options =
        "bench policies --load 2@0.5 --pool-tokens 50000 --seeds 1,2 --jobs 1 --router"
            + " default,projected --trace "
            + trace();

    Outcome text = run(options);
    assertThat(text.err()).isEmpty();
    assertThat(text.exitCode()).isZero();
    assertThat(text.out().lines().toList()).hasSize(19);
    assertThat(text.out())
        .startsWith("| requests | ranks@load | pool tokens | speed | default p95, modelled ms |")
        .contains("| t.jsonl | 2@0.5 | 50,000 | ")
        .contains(
            "\n| requests, ranks@load, pool tokens | router | p50 ms, ratio | p95 ms, ratio |")
        .containsPattern(
            "\\R\\| t.jsonl 2@0.5 50,000 \\| projected( \\| \\d+, [01].\\d\\d \\([^|]+\\)){4} \\|\\R")
        .contains("\n| router | best | or in its interval | clearly best | within 5 % |")
        .containsPattern("\\R\\| projected \\| [01] of 1 \\| 1 of 1 \\| ");

    JsonNode cell = run(options + " --format json").json().get(0);
    assertThat(cell.get("ranks").asInt()).isEqualTo(2);
    assertThat(cell.get("routers").get(1).get("router").asText()).isEqualTo("projected");
    assertThat(cell.get("routers").get(1).at("/ttftP95Ms/mean").asDouble()).isPositive();
    double ratio = cell.get("routers").get(1).at("/p95OverBestOther/mean").asDouble();
    assertThat(ratio).isBetween(0.9, 1.1);
    assertThat(cell.get("routers").get(0).at("/p95OverBestOther/mean").asDouble())
        .isCloseTo(1 / ratio, within(1e-9));
  }

  @Test
  void closedLoopsAreComparedByRequestsInFlight() {
    String options =
        "bench policies --workload closed_loop --load 2x4,2@0.5 --pool-tokens 60000 --seeds 1"
            + " --jobs 1 --fleet-router cost,polled --fleet-router-args kv_overlap_score_weight=2";
    Outcome text = run(options);
    assertThat(text.exitCode()).as(text.err()).isZero();
    assertThat(text.out()).contains("| closed_loop | 2x4 | 60,000 |  | ");
    JsonNode json = run(options + " --format json").json();
    assertThat(json).hasSize(1);
    assertThat(json.get(0).get("concurrency").intValue()).isEqualTo(4);
    assertThat(json.get(0).has("utilisation")).isFalse();
    assertThat(json.at("/0/routers/1/behindPrompts/mean").isNumber()).isTrue();
  }

  @Test
  void prefillAndDecodeApartAreComparedByLimits() throws IOException {
    Path page = folder.resolve("apart.html");
    String options =
        "bench policies --prefill-workers 1 --decode-workers 1 --load 2@0.5 --pool-tokens 50000"
            + " --seeds 1 --max-local-prefill-tokens 0,2048 --report "
            + page
            + " --trace "
            + trace();

    Outcome text = run(options);
    assertThat(text.exitCode()).as(text.err()).isZero();
    assertThat(text.out())
        .startsWith(
            "| requests | ranks@load | pool tokens | speed | projected p95, modelled ms | projected"
                + " limit 0 p95, modelled ms | projected limit 2048 p95, modelled ms |")
        .contains("| t.jsonl, 1 prefill, 1 decode | 2@0.5 | 50,000 | ")
        .contains("\n| projected limit 2048 | ");
    assertThat(Files.readString(page))
        .contains("Share of the requests that a decode worker serves whole");

    JsonNode cell = run(options + " --format json").json().get(0);
    assertThat(cell.get("mode").asText()).isEqualTo("apart");
    assertThat(cell.get("prefillWorkers").asInt()).isEqualTo(1);
    assertThat(cell.get("decodeWorkers").asInt()).isEqualTo(1);
    assertThat(cell.get("reachedUtilisation").asDouble())
        .as("of prefill workers that compute all prompts")
        .isCloseTo(0.5, within(0.05));
    JsonNode forecast = cell.get("routers").get(0);
    assertThat(forecast.at("/localPrefillShare/mean").asDouble()).isBetween(0.0, 1.0);
    assertThat(forecast.at("/itlMeanMs/mean").asDouble()).isPositive();
    assertThat(forecast.has("routedCv")).as("over ranks of different roles").isFalse();
    assertThat(cell.at("/routers/2/localPrefillShare/mean").asDouble())
        .isGreaterThan(cell.at("/routers/1/localPrefillShare/mean").asDouble());
    FIGURE
        .matcher(Files.readString(page))
        .results()
        .forEach(figure -> assertThat(at(cell, figure.group(2)).isNumber()).isTrue());
  }

  private static JsonNode at(JsonNode cell, String path) {
    return cell.at("/" + path.replace('.', '/'));
  }

  /** Some of the four cases of the trace. */
  private String sample(int cases) throws IOException {
    return FOUR_CASES + " --trace " + trace() + " --sample " + cases;
  }

  @Test
  void aDrawnSampleGoesOnWhereItStopped() throws IOException {
    Path journal = folder.resolve("runs.jsonl");
    String options = sample(2) + " --format json --journal " + journal;

    Outcome first = run(options);
    assertThat(first.exitCode()).as(first.err()).isZero();
    List<String> kept = Files.readAllLines(journal);
    assertThat(kept).as("version, and for each case a speed and 2 replays").hasSize(1 + 2 * 3);
    Set<String> cases = new HashSet<>();
    first.json().forEach(cell -> cases.add(cell.get("workload") + " " + cell.get("mode")));
    assertThat(cases).isNotEmpty();

    Files.write(journal, kept.subList(0, 5));
    assertThat(run(options).out()).isEqualTo(first.out());
    assertThat(Files.readAllLines(journal)).containsExactlyInAnyOrderElementsOf(kept);
    assertThat(run(options + " --sample-seed 7").out()).isNotEqualTo(first.out());
    assertThat(run(sample(5)).err()).contains("--sample must be");
  }

  @Test
  void wrongUseIsNamedBeforeAnythingIsPlayed() throws IOException {
    Path empty = Files.createFile(folder.resolve("empty.jsonl"));
    Path page = folder.resolve("page.html");
    Path missing = folder.resolve("missing").resolve("runs.jsonl");
    Path mine = Files.writeString(folder.resolve("mine.txt"), "mine");
    Map<String, String> messages =
        new HashMap<>(
            Map.of(
                sample(2) + " --journal " + folder,
                "--journal " + folder,
                sample(2) + " --journal " + missing,
                "--journal " + missing + ": no such file",
                sample(2) + " --journal " + mine,
                "--journal " + mine + ": not a journal",
                sample(2) + " --report " + page + " --journal " + page,
                "must not be the file of",
                FOUR_CASES + " --jitter-seconds 1",
                "--jitter-seconds needs --trace",
                "bench policies --sample-seed 2",
                "--sample-seed needs --sample",
                "bench policies --workload nine",
                "--workload must be one of multi_turn, agentic,",
                "bench policies --mode nine",
                "--mode must be one of aggregated, context, not",
                "bench policies --workload multi_turn --pool-tokens 4096 --load 2@0.5 --seeds 1",
                "--workload multi_turn: no request fits into a pool of 4096 tokens"));
    messages.put("bench policies --sample 2", "--sample must be an integer from 1 to 1, not '2'");
    messages.put(
        "bench policies --workload closed_loop --sample 2",
        "--sample must be an integer from 1 to 1, not '2'");
    messages.put(
        "bench policies --load 8x10", "--load must have a RANKS@SHARE for --workload uniform");
    messages.put(
        "bench policies --workload closed_loop --load 8@0.5",
        "--load must have a RANKSxN for --workload closed_loop");
    messages.put(
        "bench policies --workload closed_loop --load 8x0",
        "--load must be an integer from 1 to 1000000, not '0'");
    messages.put(
        "bench policies --load 8", "--load must be RANKS@SHARE or RANKSxN, for example 8@0.8");
    messages.put(
        "bench policies --fleet-router cost --fleet-router-args load_weight=1",
        "--fleet-router-args is wrong: no compared fleet router has load_weight");
    messages.put(
        "bench policies --fleet-router cost --fleet-router-args kv_overlap_score_weight=-1",
        "--fleet-router-args is wrong: kv_overlap_score_weight");
    String roles = "bench policies --prefill-workers 2 --decode-workers 2";
    messages.put("bench policies --prefill-workers 2", "--prefill-workers needs --decode-workers");
    messages.put("bench policies --decode-workers 2", "--decode-workers needs --prefill-workers");
    messages.put(
        "bench policies --max-local-prefill-tokens 9",
        "--max-local-prefill-tokens needs --prefill-workers and --decode-workers");
    messages.put(roles + " --router default", "--router and --prefill-workers exclude each other");
    messages.put(roles + " --mode context", "--mode must be aggregated with --prefill-workers");
    messages.put(
        roles + " --load 8@0.5",
        "--load must have 4 ranks, the workers of --prefill-workers and --decode-workers");
    messages.put(
        roles + " --fleet-router round_robin --max-local-prefill-tokens 9",
        "--max-local-prefill-tokens needs routers that match prompts, not round_robin");
    messages.put(
        roles + " --max-local-prefill-tokens 9,9",
        "--max-local-prefill-tokens must name each value once, not '9,9'");
    assertThat(run("bench policies --saturated-ttft-ms 0").err())
        .contains("--saturated-ttft-ms must be");
    messages.forEach(
        (line, message) -> {
          Outcome refused = run(line);
          assertThat(refused.exitCode()).as(line).isEqualTo(2);
          assertThat(refused.err()).as(line).contains(message);
        });
    assertThat(mine).hasContent("mine");
    assertThat(run(sample(1) + " --journal " + empty).exitCode()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"10000, 2, 8", "1, 1, 6"})
  void thePageHasTheFiguresOfTheJson(String saturatedMs, int cases, int expected)
      throws IOException {
    Path page = folder.resolve("page.html");
    Outcome outcome =
        run(
            sample(cases)
                + " --saturated-ttft-ms "
                + saturatedMs
                + " --format json --report "
                + page);
    String html = Files.readString(page);
    JsonNode json = outcome.json();
    Matcher figures = FIGURE.matcher(html);
    int read = 0;
    while (figures.find()) {
      JsonNode value = json.get(Integer.parseInt(figures.group(1)));
      value = value.at("/" + figures.group(2).replace('.', '/'));
      assertThat(value.isNumber()).as(figures.group()).isTrue();
      double shown = Double.parseDouble(figures.group(3).replace(",", ""));
      assertThat(shown).isCloseTo(value.asDouble(), within(0.051));
      read++;
    }
    assertThat(read).as("p95, hits and, if saturated, capacities").isEqualTo(expected);
    assertThat(html).contains("<h2>Distance from the best</h2>").doesNotContain("<script");

    assertThat(run(sample(2) + " --report " + folder).err())
        .contains("--report must be a file, not a folder");
  }
}
