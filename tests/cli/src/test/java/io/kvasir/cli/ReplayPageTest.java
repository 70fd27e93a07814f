package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The excerpt of a report in docs/replay.md is what the command prints. */
@Tag("documents")
class ReplayPageTest {

  @Test
  void theExcerptIsOfTheReportThatReplayPrints() throws IOException {
    String page = Files.readString(Path.of(System.getProperty("kvasir.root"), "docs/replay.md"));
    int begin = page.indexOf("```\n-- kv_cache_aware -");
    assertThat(begin).as("the excerpt in docs/replay.md").isPositive();
    List<String> excerpt =
        page.substring(begin + 4, page.indexOf("\n```", begin))
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
