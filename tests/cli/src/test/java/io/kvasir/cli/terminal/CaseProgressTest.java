package io.kvasir.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CaseProgressTest {

  private static final String WIPE = "\r\u001b[K";

  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private Console console(boolean terminal) {
    return new Console(
        InputStream.nullInputStream(),
        new ByteArrayOutputStream(),
        new PrintStream(err, true, StandardCharsets.UTF_8),
        terminal,
        Map.of());
  }

  private String shown() {
    String all = err.toString(StandardCharsets.UTF_8);
    return all.substring(all.lastIndexOf(WIPE) + WIPE.length());
  }

  @Test
  void aTerminalShowsTheCaseFromItsBeginningAndTheReplaysThatAreDone() {
    try (CaseProgress progress = new CaseProgress(3, 2, console(true))) {
      progress.begin("8@0.8");
      assertThat(shown()).isEqualTo("case 1 of 3, 8@0.8 [" + " ".repeat(30) + "] 0 of 2 replays");
      progress.replayed();
      assertThat(shown())
          .isEqualTo("case 1 of 3, 8@0.8 [" + "#".repeat(15) + " ".repeat(15) + "] 1 of 2 replays");
      progress.replayed();
      progress.replayed();
      assertThat(shown()).as("a saturated case has more").endsWith("] 3 of 4 replays");
      progress.erase();
      assertThat(shown()).isEmpty();
      progress.begin("8x20");
      assertThat(shown()).startsWith("case 2 of 3, 8x20 [").endsWith("] 0 of 2 replays");
    }
    assertThat(shown()).isEmpty();
  }

  @Test
  void nothingIsShownElsewhere() {
    try (CaseProgress progress = new CaseProgress(1, 2, console(false))) {
      progress.begin("8@0.8");
      progress.replayed();
    }
    assertThat(err.size()).isZero();
  }
}
