package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.terminal.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchIndexCommandTest {

  private static final String QUICK = " --runs 1 --window-ms 20 --memberships 1000";
  private static final String SMALL =
      " --workers 3 --duplicate 2 --length-factor 2 --pool-blocks 40" + QUICK;

  @TempDir private Path folder;

  @Test
  void indexesAreMeasuredBesideEachOtherAndAnswerAlike() throws IOException {
    Outcome outcome = run("--trace " + trace() + SMALL + " --format json");
    assertThat(outcome.exitCode()).as(outcome.err()).isZero();
    JsonNode json = outcome.json();
    assertThat(json.at("/corpus/queries").intValue()).isEqualTo(120);
    assertThat(json.at("/indexes")).hasSizeGreaterThan(1);
    String answers = json.at("/indexes/0/answers").textValue();
    for (JsonNode index : json.at("/indexes")) {
      assertThat(index.get("answers").textValue()).isEqualTo(answers);
      assertThat(index.at("/oneThread/blockOps")).isEqualTo(json.at("/corpus/blockOps"));
      assertThat(index.at("/oneThread/failedChanges").intValue()).isZero();
      assertThat(index.at("/readsAlone/lookups/count").intValue()).isEqualTo(120);
      assertThat(index.at("/deadlines/0/failedChanges").intValue()).isZero();
      assertThat(index.at("/memory/memberships").longValue())
          .isEqualTo(
              json.at("/corpus/storedBlocks").longValue()
                  - json.at("/corpus/removedBlocks").longValue());
    }

    Outcome again = run("--trace " + trace() + SMALL);
    assertThat(again.exitCode()).as(again.err()).isZero();
    assertThat(again.out()).contains("3 workers, 2 copies", "java-radix", "bytes a membership");
  }

  @Test
  void aSoakTellsWhatTheIndexesHeldOnTheWay() {
    JsonNode soaks = run("--soak 50000 --format json").json();
    assertThat(soaks).hasSizeGreaterThan(1);
    for (JsonNode soak : soaks) {
      assertThat(soak.get("blockEvents").longValue()).isGreaterThanOrEqualTo(50_000);
      assertThat(soak.get("checkpoints")).hasSize(20);
      assertThat(soak.at("/checkpoints/19/memberships").longValue()).isPositive();
    }
    assertThat(run("--soak 50000").out()).contains("native: ", "all totals exact", "MiB");
    refused("--soak 0", "--soak must be an integer from 1 to ");
  }

  @Test
  void wrongUsageNamesTheOption() throws IOException {
    refused("", "--trace must be given");
    refused("--trace /no/such", "/no/such: no such file");
    String trace = "--trace " + trace();
    refused(trace + " --workers 0", "--workers must be an integer from 1 to 65536, not '0'");
    refused(trace + " --handles none", "--handles must be one of per-rank, shared, not 'none'");
    refused(trace + " --pool-blocks 8", "--trace poolBlocks must be at least");
    refused(trace + " --window-ms 5,", "--window-ms must be an integer from 1 to 3600000, not ''");
  }

  private static void refused(String options, String message) {
    Outcome outcome = run(options);
    assertThat(outcome.exitCode()).as(options).isEqualTo(ExitCode.USAGE);
    assertThat(outcome.err()).startsWith(message);
  }

  private static Outcome run(String options) {
    return Outcome.of(Map.of(), ("bench index " + options).strip());
  }

  /** Ten conversations that take turns. */
  private Path trace() throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int row = 0; row < 60; row++) {
      StringBuilder ids = new StringBuilder("0");
      int blocks = 1 + row / 10;
      for (int i = 0; i < blocks; i++) {
        ids.append(',').append(1 + row % 10 * 8 + i);
      }
      lines.append(
          "{\"timestamp\":%d,\"input_length\":%d,\"output_length\":1,\"hash_ids\":[%s]}%n"
              .formatted(row / 2 * 100, (blocks + 1) * 512, ids));
    }
    return Files.writeString(folder.resolve("trace.jsonl"), lines);
  }
}
