package io.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes that answer JSON lines through pipes. */
@Timeout(240)
class LinesProcessTest {

  private static final int LIMIT_SECONDS = 100;

  @ParameterizedTest
  @ValueSource(strings = {"route", "index"})
  void answersBeforeAPauseAreFlushed(String command) throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                command)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (OutputStream lines = process.getOutputStream();
        BufferedReader answers = process.inputReader(StandardCharsets.UTF_8)) {
      for (int line = 0; line < 3; line++) {
        lines.write("{\"op\":\"none\"}\n".getBytes(StandardCharsets.UTF_8));
        lines.flush();
        assertThat(next(answers)).startsWith("{\"error\":").contains("none");
      }
    } finally {
      process.destroyForcibly();
    }
  }

  private static String next(BufferedReader answers) throws Exception {
    return CompletableFuture.supplyAsync(
            () -> {
              try {
                return answers.readLine();
              } catch (IOException e) {
                throw new AssertionError(e);
              }
            })
        .get(LIMIT_SECONDS, TimeUnit.SECONDS);
  }
}
