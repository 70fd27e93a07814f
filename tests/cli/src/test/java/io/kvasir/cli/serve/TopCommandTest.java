package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.cli.KvasirJvm;
import io.kvasir.cli.Outcome;
import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code kvasir top} next to a gateway. */
@Tag("process")
class TopCommandTest {

  private static final String ASK = "{\"model\":\"kvasir\",\"prompt\":\"Hello\",\"max_tokens\":2}";

  private static ServingProcess gateway() throws IOException {
    return ServingProcess.embedded("--ranks", "2");
  }

  private static Outcome top(String url) {
    return Outcome.of(Map.of(), "top --interval-seconds 0.1 --admin-url " + url);
  }

  @Test
  void oneScreenIsPrintedWithoutEscapes() throws Exception {
    try (ServingProcess gateway = gateway()) {
      assertThat(ServingProcess.post(gateway.url() + "/v1/completions", ASK).statusCode())
          .isEqualTo(200);
      Outcome once = top(gateway.adminUrl() + " --once");
      assertThat(once.exitCode()).as(once.err()).isZero();
      assertThat(once.err()).isEmpty();
      assertThat(once.out())
          .matches("[ -~\n]*\n")
          .startsWith(gateway.adminUrl() + ", up ")
          .contains("1 of 1 workers take requests", "REQ/S", "healthy", "LAST DECISIONS", " 200");
      assertThat(top(gateway.adminUrl()).out()).as("no terminal").contains("REQ/S");
    }
  }

  @Test
  void withoutAGatewayItEndsAsWorkersDoes() {
    Outcome nowhere = top("http://127.0.0.1:1");
    assertThat(nowhere.exitCode()).isEqualTo(1);
    assertThat(nowhere.out()).isEmpty();
    assertThat(nowhere.err())
        .isEqualTo(Outcome.of(Map.of(), "workers --admin-url http://127.0.0.1:1").err())
        .contains("no gateway has its admin port at");
  }

  @Test
  void aTerminalIsDrawnAgainUntilASignalThroughTheEndOfTheGateway() throws Exception {
    List<String> words =
        KvasirJvm.command(
            List.of("-XX:+UseSerialGC", "-Xmx128m", "-Dkvasir.screen=true"),
            "top",
            "--interval-seconds",
            "0.1");
    try (ServingProcess gateway = gateway()) {
      words.addAll(List.of("--admin-url", gateway.adminUrl()));
      ProcessBuilder builder = new ProcessBuilder(words);
      builder.environment().putAll(Map.of("COLUMNS", "80", "LINES", "24"));
      try (ChildProcess top = ChildProcess.start("top", builder)) {
        top.await("drawn twice", () -> top.output().split("\u001b\\[H", -1).length > 2);
        gateway.kill();
        top.await("without an answer", () -> top.output().contains("NO ANSWER for "));
        top.terminate();
        assertThat(top.exitCode()).as(top.toString()).isZero();
        assertThat(top.output().strip()).endsWith("\u001b[J").doesNotContain("\u001b[?");
        assertThat(top.errors()).isEmpty();
      }
    }
  }
}
