package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The excerpt of a report in README.md is what the command prints. */
@Tag("documents")
class ReadmeFiguresTest {

  @Test
  void theExcerptIsOfTheReportThatReplayPrints() throws IOException {
    String readme = Files.readString(Path.of(System.getProperty("kvasir.root"), "README.md"));
    int begin = readme.indexOf("```\n-- kv_cache_aware -");
    assertThat(begin).as("the excerpt in README.md").isPositive();
    List<String> excerpt =
        readme
            .substring(begin + 4, readme.indexOf("\n```", begin))
            .lines()
            .filter(line -> !line.isBlank() && !isTimes(line))
            .toList();
    assertThat(excerpt).as("lines with figures").hasSizeGreaterThanOrEqualTo(8);

    Outcome replayed = Outcome.of(Map.of(), "replay");
    assertThat(replayed.exitCode()).as(replayed.err()).isZero();
    assertThat(replayed.out().lines()).containsSubsequence(excerpt);
  }

  private static boolean isTimes(String line) {
    return line.startsWith("  modelled ms ") || line.startsWith("  first token");
  }
}
