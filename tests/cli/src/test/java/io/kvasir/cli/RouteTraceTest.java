package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.cli.TracingEngine.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Route traces of TensorRT-LLM, whose decisions are made again. */
class RouteTraceTest {

  private static final int ENGINES = 40;
  private static final int BATCHES = 50;
  private static final Pattern AGREEING =
      Pattern.compile(": 50 batches, (?s:.*)\n(\\d+) of \\1 scored decisions agree");

  private static final String LINE =
      "{\"iter\":7,\"log_iter\":8,\"load_before\":{\"num_active_requests\":[0,1],"
          + "\"num_active_tokens\":[0.0,10.0]},\"num_unrouted\":0,\"decisions\":["
          + "{\"req_id\":1,\"client_id\":4242,\"phase\":\"scored\",\"req_tokens\":100,"
          + "\"best_rank\":0,\"effective_added\":20,\"match_lens\":{\"0\":80,\"1\":0},"
          + "\"scores\":{\"0\":20.0,\"1\":110.0},\"cache_affinity_active\":true},"
          + "{\"req_id\":2,\"client_id\":2,\"phase\":\"scored\",\"req_tokens\":100,"
          + "\"best_rank\":1,\"effective_added\":100,\"match_lens\":{\"0\":5,\"1\":0},"
          + "\"scores\":{\"0\":120.0,\"1\":110.0},\"cache_affinity_active\":false}]}\n";

  @Test
  void decisionsOfAnEngineAgree() {
    long seed = 20261126;
    long compared = 0;
    for (int engine = 0; engine < ENGINES; engine++) {
      Random random = new Random(seed + engine);
      Settings settings =
          new Settings(
              1 + random.nextInt(8),
              1 + random.nextInt(12),
              random.nextInt(4) / 2.0,
              random.nextInt(4) / 4.0,
              1 + random.nextInt(5) / 4.0);
      TracingEngine traced = new TracingEngine(settings, random.nextBoolean(), random);
      StringBuilder lines = new StringBuilder();
      for (int batch = 0; batch < BATCHES; batch++) {
        lines.append(traced.batch()).append('\n');
      }
      List<String> options = new ArrayList<>(options(settings));
      if (random.nextBoolean()) {
        options.addAll(List.of("--max-active-requests", "" + settings.maxActive()));
      }
      Outcome outcome = read(lines.toString(), options);

      assertThat(outcome.exitCode())
          .as("seed %d, %s: %s%s", seed + engine, settings, outcome.out(), outcome.err())
          .isZero();
      Matcher counts = AGREEING.matcher(outcome.out());
      assertThat(counts.find()).isTrue();
      compared += Long.parseLong(counts.group(1));
    }
    assertThat(compared).as("scored decisions").isGreaterThan(4000);
  }

  private static List<String> options(Settings settings) {
    return List.of(
        "--kv-cache-routing-load-balance-weight",
        "" + settings.weight(),
        "--kv-cache-routing-match-rate-threshold",
        "" + settings.threshold(),
        "--kv-cache-routing-fair-share-multiplier",
        "" + settings.multiplier());
  }

  @Test
  void agreementIsCountedByPhase() {
    String unscored =
        "{\"decisions\":[{\"req_id\":3,\"phase\":\"warmup\",\"req_tokens\":9,\"best_rank\":0,"
            + "\"effective_added\":9},{\"req_id\":4,\"phase\":\"first_turn\",\"req_tokens\":9,"
            + "\"best_rank\":1,\"effective_added\":1}],\"iter\":9,\"num_unrouted\":2,"
            + "\"load_before\":{\"num_active_requests\":[0,0],\"num_active_tokens\":[0,0]}}\n";
    Outcome outcome = read(LINE + unscored, List.of());

    assertThat(outcome.out())
        .isEqualTo(
            "standard input: 2 batches, 4 decisions (1 first_turn, 2 scored, 1 warmup),"
                + " 2 requests without a rank\n2 of 2 scored decisions agree\n");
    assertThat(outcome.exitCode()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "\"best_rank\":0 | \"best_rank\":1 | 1: best_rank is 1 in the trace, 0 here",
        "\"0\":20.0 | \"0\":20.5 | 1: score of rank 0 is 20.5 in the trace, 20.0 here",
        "\"1\":110.0},\"cache_affinity_active\":false | \"1\":9},\"cache_affinity_active\":false |"
            + " 2: score of rank 1 is 9.0 in the trace, 110.0 here",
        "\"cache_affinity_active\":true | \"cache_affinity_active\":false |"
            + " 1: cache_affinity_active is false in the trace, true here",
        "\"0\":5 | \"0\":95 | 2: cache_affinity_active is false in the trace, true here",
        "\"effective_added\":100 | \"effective_added\":99 |"
            + " 2: effective_added is 99 in the trace, 100 here",
        "\"effective_added\":20 | \"effective_added\":30 |"
            + " 1: effective_added is 30 in the trace, 20 here",
        "[0.0,10.0] | [0.0,11.0] | 1: score of rank 1 is 110.0 in the trace, 111.0 here",
        "\"0\":80 | \"0\":128 | 1: score of rank 0 is 20.0 in the trace, 0.0 here"
            + " (a match of 128 tokens counts as the prompt's 100 here)",
        "[0,1] | [0,99] | 1: rank 1 competes in the trace, but it has 99 active requests and the"
            + " soft target is 20",
        "\"0\":20.0,\"1\":110.0 | \"0\":20.0 | 1: rank 1 does not compete in the trace, but it has"
            + " 1 active requests and the soft target is 4",
      })
  void theFirstFieldThatDiffersIsNamed(String field, String changed, String difference) {
    assertThat(LINE).contains(field);
    Outcome outcome = read(LINE.replace(field, changed), List.of("--max-active-requests", "20"));

    assertThat(outcome.out())
        .contains("\nthe first that differs: line 1, iter 7, req_id " + difference + "\n");
    assertThat(outcome.exitCode()).isOne();
  }

  @Test
  void tiesGoWhereTheShuffleOfTheIdSendsThem() {
    String tie =
        "{\"iter\":1,\"load_before\":{\"num_active_requests\":[0,0,0],\"num_active_tokens\":"
            + "[0,0,0]},\"num_unrouted\":0,\"decisions\":[{\"req_id\":%d,\"phase\":\"scored\","
            + "\"req_tokens\":8,\"best_rank\":%d,\"effective_added\":8,\"match_lens\":"
            + "{\"0\":0,\"1\":0,\"2\":0},\"scores\":{\"0\":8,\"1\":8,\"2\":8},"
            + "\"cache_affinity_active\":false}]}\n";
    for (long id : new long[] {0, 1, 2, 3, 1L << 40, Long.MAX_VALUE}) {
      int first = PythonShuffle.of(id, List.of(0, 1, 2)).get(0);
      int other = (first + 1) % 3;

      assertThat(read(tie.formatted(id, first), List.of()).exitCode()).as("id %d", id).isZero();
      assertThat(read(tie.formatted(id, other), List.of()).out())
          .contains("best_rank is " + other + " in the trace, " + first + " here");
    }
  }

  @Test
  void roundingIsNoDifferenceButSaid() {
    Outcome outcome = read(LINE.replace("120.0", "120.00000000000001"), List.of());

    assertThat(outcome.out())
        .endsWith("2 of 2 scored decisions agree, 1 of them except for rounding\n");
    assertThat(outcome.exitCode()).isZero();
  }

  /** An engine that names its phases otherwise does not agree by that. */
  @Test
  void decisionsOfWhichNoneIsScoredAreNoAgreement() {
    Outcome outcome = read(LINE.replace("\"scored\"", "\"other\""), List.of());

    assertThat(outcome.out()).contains("\n0 of 0 scored decisions agree\n");
    assertThat(outcome.exitCode()).isOne();
  }

  @Test
  void aLastLineThatIsCutOffIsLeftOut() {
    for (int length = 1; length < LINE.length() - 1; length += 13) {
      Outcome outcome = read(LINE + LINE.substring(0, length), List.of());

      assertThat(outcome.out())
          .startsWith("standard input: 1 batches, ")
          .endsWith("\nthe last line is cut off and was left out\n");
      assertThat(outcome.exitCode()).isZero();
    }
    assertThat(read(LINE + LINE.strip(), List.of()).out()).doesNotContain("cut off");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "\"iter\":7, | | iter is missing",
        "\"num_unrouted\":0, | | num_unrouted is missing",
        "\"phase\":\"scored\",\"req_tokens\":100,\"best_rank\":1 | \"best_rank\":1 |"
            + " decisions[1].phase is missing",
        "\"req_tokens\":100,\"best_rank\":0 | \"best_rank\":0 | decisions[0].req_tokens is missing",
        "\"num_active_tokens\" | \"tokens\" | load_before.num_active_tokens is missing",
        "[0.0,10.0] | [0.0] | load_before.num_active_tokens must have 2 ranks, as"
            + " num_active_requests has, not 1",
        "[0.0,10.0] | [0.0,10.5] | load_before.num_active_tokens[1] must be a whole number from 0"
            + " to 4503599627370496, not 10.5",
        "\"best_rank\":1 | \"best_rank\":2 | decisions[1].best_rank must be an integer from 0 to 1,"
            + " not 2",
        "{\"0\":80,\"1\":0} | {\"0\":80} | decisions[0].match_lens.1 is missing",
        "\"0\":20.0,\"1\":110.0 | \"1\":110.0 | decisions[0].best_rank must be one of the ranks with"
            + " scores, not 0",
        "\"1\":110.0},\"cache_affinity_active\":true | \"2\":110.0},\"cache_affinity_active\":true |"
            + " decisions[0].scores.2 must be a rank from 0 to 1",
        ",\"cache_affinity_active\":true | | decisions[0].cache_affinity_active is missing",
        "{\"iter\" | [{\"iter\" | not JSON: ",
      })
  void wrongLinesAreNamed(String field, String changed, String error) {
    assertThat(LINE).contains(field);
    String wrong = LINE.replace(field, changed == null ? "" : changed);
    Outcome outcome = read(LINE + wrong + LINE, List.of());

    assertThat(outcome.err()).startsWith("standard input:2: " + error);
    assertThat(outcome.out()).isEmpty();
    assertThat(outcome.exitCode()).isEqualTo(2);
  }

  @Test
  void aTraceIsOfOneEngine() {
    String alone =
        "{\"iter\":1,\"load_before\":{\"num_active_requests\":[0],\"num_active_tokens\":[0]},"
            + "\"num_unrouted\":0,\"decisions\":[]}\n";

    assertThat(read(alone + LINE, List.of()).err())
        .isEqualTo("standard input:2: load_before has 2 ranks, but earlier lines have 1\n");
    assertThat(read("", List.of()).err()).isEqualTo("standard input: has no batch\n");
    assertThat(read("", List.of()).exitCode()).isEqualTo(2);
  }

  @Test
  void aTraceMayBeAFile(@TempDir Path folder) throws IOException {
    String file = Files.writeString(folder.resolve("trace.jsonl"), LINE).toString();

    assertThat(run(LINE, "route", "--trace", file).out()).startsWith(file + ": 1 batches, ");
    assertThat(run("", "route", "--trace", "no/such").err())
        .isEqualTo("--trace must be a file, not 'no/such'\n");
    assertThat(run("", "route", "--trace", file, file).err())
        .isEqualTo("--trace and FILE exclude each other\n");
    assertThat(run("", "route", "--max-active-requests", "2").err())
        .isEqualTo("--max-active-requests needs --trace\n");
    assertThat(run("", "route", "--kv-cache-routing-match-rate-threshold", "0").err())
        .isEqualTo("--kv-cache-routing-match-rate-threshold needs --trace\n");
  }

  @Test
  void theTraceOfAReplayIsNotMeant() {
    Outcome outcome = Outcome.of(Map.of("KVASIR_TRACE", "x.jsonl"), "", "route");

    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
  }

  private static Outcome read(String lines, List<String> options) {
    String[] arguments =
        Stream.concat(Stream.of("route", "--trace", "-"), options.stream()).toArray(String[]::new);
    return run(lines, arguments);
  }

  private static Outcome run(String in, String... arguments) {
    return Outcome.of(Map.of(), in, arguments);
  }
}
