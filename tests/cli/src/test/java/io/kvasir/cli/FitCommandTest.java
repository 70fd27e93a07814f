package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From an engine's log to a replay with its step times. */
class FitCommandTest {

  @TempDir private Path folder;

  private static Outcome run(String... arguments) {
    return Outcome.of(Map.of(), "", arguments);
  }

  private String log(int requests) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 1; i <= requests; i++) {
      double firstTokenMs = 10 + 0.02 * 100 * i;
      lines.append(
          "{\"prompt_tokens\": %d, \"ttft_ms\": %s, \"itl_ms\": 7.5, \"output_tokens\": 5}%n"
              .formatted(100 * i, firstTokenMs));
    }
    return Files.writeString(folder.resolve("log.jsonl"), lines).toString();
  }

  @Test
  void aReplayTakesTheFittedTimes() throws IOException {
    Outcome fitted = run("fit", log(40));
    assertThat(fitted.exitCode()).as(fitted.err()).isZero();
    assertThat(fitted.json().get("prefill_linear").asDouble()).isBetween(0.0199, 0.0201);
    assertThat(fitted.json().get("prefill_constant_ms").asDouble()).isBetween(9.9, 10.1);
    assertThat(fitted.json().get("decode_constant_ms").asDouble()).isBetween(7.49, 7.51);
    assertThat(fitted.err())
        .contains("without start times")
        .contains("error of 40 samples of 100 to 4,000 computed tokens: median 0.0 %")
        .contains("error of 160 samples of 101 to 4,004 KV tokens");

    Path timing = Files.writeString(folder.resolve("timing.json"), fitted.out());
    String replay = "replay --sessions 2 --turns 1 --ranks 1 --format json --step-timing ";
    Outcome replayed = Outcome.of(Map.of(), replay + timing);
    assertThat(replayed.exitCode()).as(replayed.err()).isZero();
  }

  private String stepLog() throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 1; i <= 300; i++) {
      int tokens = i % 3 == 1 ? 0 : 37 * (i % 50 + 1);
      int decoding = i % 3 == 0 ? 0 : i % 40 + 1;
      long kvTokens = decoding * (500L + 31L * (i % 17));
      double prefillMs = tokens == 0 ? 0 : 4 + 0.05 * tokens;
      double decodeMs = decoding == 0 ? 0 : 10 + 0.2 * decoding + kvTokens / 10_000.0;
      lines.append(
          """
          {"wall_time": %s, "scheduled_requests": {"num_prefill_requests": %d, \
          "sum_prefill_tokens": %d, "num_decode_requests": %d, "sum_decode_kv_tokens": %d}}
          """
              .formatted(
                  (prefillMs + decodeMs) / 1000, tokens > 0 ? 1 : 0, tokens, decoding, kvTokens));
    }
    return Files.writeString(folder.resolve("steps.jsonl"), lines).toString();
  }

  @Test
  void stepsShowTheCostOfEachRequest() throws IOException {
    String steps = stepLog();
    Outcome fitted = run("fit", steps);
    assertThat(fitted.exitCode()).as(fitted.err()).isZero();
    assertThat(fitted.json().get("prefill_linear").asDouble()).isBetween(0.0499, 0.0501);
    assertThat(fitted.json().get("decode_constant_ms").asDouble()).isBetween(9.9, 10.1);
    assertThat(fitted.json().get("decode_request_ms").asDouble()).isBetween(0.199, 0.201);
    assertThat(fitted.json().get("decode_graph_multiple").asInt()).isEqualTo(1);
    assertThat(fitted.json().get("mixed_overlap").asDouble()).isZero();
    assertThat(fitted.err())
        .contains("error of 100 samples of 37 to 1,850 computed tokens: median 0.0 %")
        .contains("0 % of the shorter is hidden; error of 100 samples");

    Path timing = Files.writeString(folder.resolve("timing.json"), fitted.out());
    String replay =
        "replay --sessions 2 --turns 1 --ranks 1 --router default --format json --step-timing ";
    Outcome replayed = Outcome.of(Map.of(), replay + timing);
    assertThat(replayed.exitCode()).as(replayed.err()).isZero();
    assertThat(replayed.json().at("/config/stepTiming/decodeRequestMs").asDouble())
        .isBetween(0.199, 0.201);

    assertThat(run("fit", steps, log(40)).err())
        .contains("have both requests and steps; name logs of one kind");
    Path broken = folder.resolve("broken.jsonl");
    Files.writeString(broken, "{\"wall_time\": 4000, \"scheduled_requests\": {}}");
    assertThat(run("fit", broken.toString()).err())
        .isEqualTo(broken + ":1: wall_time must be from 0 to 3600.0 seconds, not 4000.0\n");
  }

  @Test
  void unusableLogsAreRefused() throws IOException {
    String few = log(7);
    assertThat(run("fit", few).err()).isEqualTo(few + ": needs at least 8 requests, has 7\n");
    String missing = folder.resolve("missing").toString();
    Outcome none = run("fit", missing);
    assertThat(none.exitCode()).isEqualTo(2);
    assertThat(none.out()).isEmpty();
    assertThat(none.err()).isEqualTo(missing + ": no such file\n");
    assertThat(run("fit").err()).contains("LOG").contains("see kvasir fit --help");
  }
}
