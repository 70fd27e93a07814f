package io.kvasir.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.Jdk;
import io.kvasir.testing.llama.GgufWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Four llama.cpp workers of one thread behind the gateway: what llama.cpp itself counts when
 * conversations stay on their workers, and when they do not.
 */
@EnabledOnOs(
    value = OS.LINUX,
    architectures = "amd64",
    disabledReason = "llama.cpp is tested on Linux for x86_64 only")
@Tag("process")
@Tag("jdk")
class RealEngineTest {

  /** A request's line in llama.cpp's log: milliseconds and evaluated tokens of its prompt. */
  private static final Pattern PROMPT =
      Pattern.compile("^prompt eval time = +([0-9.]+) ms / +([0-9]+) tokens", Pattern.MULTILINE);

  private static final int MOST_PERCENT = 40;

  @TempDir private Path folder;
  private Path model;

  @BeforeEach
  void writeModel() throws IOException {
    model = GgufWriter.write(folder.resolve("random.gguf"), 3);
  }

  /** What a process did: what clients saw, and what llama.cpp logged. */
  private record Run(JsonNode seen, int prompts, long evaluatedTokens, double promptMs) {}

  private Run run(String router, String mode) throws Exception {
    ChildProcess process =
        ChildProcess.run(
            "llama.cpp behind " + router,
            new ProcessBuilder(
                Jdk.java(
                    List.of("-Xmx256m"),
                    FleetRun.class.getName(),
                    model.toString(),
                    router,
                    mode)));
    assertThat(process.exitCode()).as(() -> tail(process.errors())).isZero();
    int prompts = 0;
    long tokens = 0;
    double ms = 0;
    Matcher line = PROMPT.matcher(process.errors());
    while (line.find()) {
      prompts++;
      ms += Double.parseDouble(line.group(1));
      tokens += Long.parseLong(line.group(2));
    }
    return new Run(new ObjectMapper().readTree(process.output()), prompts, tokens, ms);
  }

  private static String tail(String log) {
    List<String> lines = log.lines().toList();
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 20), lines.size()));
  }

  @Test
  void conversationsThatStayOnTheirWorkersEvaluateAtMostTwoFifthsOfThePromptTokens()
      throws Exception {
    Run sticky = run("conversation", "conversations");
    Run robin = run("round_robin", "conversations");
    double percent = 100.0 * sticky.evaluatedTokens() / robin.evaluatedTokens();
    System.out.printf(
        Locale.ROOT,
        "llama.cpp evaluated %d prompt tokens in %.0f ms with conversation, %d in %.0f ms with"
            + " round_robin: %.1f %%%n",
        sticky.evaluatedTokens(),
        sticky.promptMs(),
        robin.evaluatedTokens(),
        robin.promptMs(),
        percent);

    int requests = FleetRun.CONVERSATIONS * FleetRun.TURNS;
    assertThat(sticky.prompts()).isEqualTo(requests);
    assertThat(robin.prompts()).isEqualTo(requests);
    assertThat(percent).isLessThanOrEqualTo(MOST_PERCENT);
    // The engines' usage says the same as llama.cpp.
    for (Run run : List.of(sticky, robin)) {
      long prompt = run.seen().get("promptTokens").asLong();
      long cached = run.seen().get("cachedTokens").asLong();
      assertThat(prompt - cached).isEqualTo(run.evaluatedTokens());
    }
    assertThat(sticky.seen().get("promptTokens").asDouble())
        .isCloseTo(robin.seen().get("promptTokens").asDouble(), withinPercentage(1));
  }

  @Test
  void greedyAnswersToColdPromptsAreEqualOnAllWorkers() throws Exception {
    Run run = run("round_robin", "cold");

    JsonNode answers = run.seen().get("answers");
    assertThat(answers).hasSize(FleetRun.COLD_PROMPTS);
    Set<String> different = new HashSet<>();
    for (JsonNode byWorker : answers) {
      assertThat(byWorker).as("workers").hasSize(FleetRun.WORKERS);
      Set<String> texts = new HashSet<>();
      byWorker.forEach(text -> texts.add(text.asText()));
      assertThat(texts).hasSize(1);
      different.addAll(texts);
    }
    assertThat(different).hasSize(FleetRun.COLD_PROMPTS).doesNotContain("");
  }
}
