package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.ChildProcess;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes that answer JSON lines through pipes. */
@Tag("process")
class LinesProcessTest {

  @ParameterizedTest
  @ValueSource(strings = {"route", "index"})
  void answersBeforeAPauseAreFlushed(String command) throws Exception {
    List<String> words = KvasirJvm.command(List.of(), command);
    try (ChildProcess process = ChildProcess.start(command, new ProcessBuilder(words))) {
      for (int line = 1; line <= 3; line++) {
        int answers = line;
        process.input().write("{\"op\":\"none\"}\n".getBytes(StandardCharsets.UTF_8));
        process.input().flush();
        process.await("answering", () -> process.output().lines().count() == answers);
      }
      assertThat(process.output().lines())
          .allSatisfy(answer -> assertThat(answer).startsWith("{\"error\":").contains("none"));
    }
  }
}
