package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.cli.KvasirJvm;
import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.ReservedPort;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers whose standard output and error are a full pipe that nothing reads. */
@Tag("process")
class UnreadOutputTest {

  private static final String CHAT =
      "{\"model\":\"kvasir\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],\"max_tokens\":2}";

  @TempDir Path folder;

  @Test
  void aGatewayServesAndStops() throws Exception {
    servesAndStops("serve", "--verbose", "--admin-port", freePort(), "--drain-grace-seconds", "0");
  }

  @Test
  void anEngineServesAndStops() throws Exception {
    servesAndStops("engine", "--verbose");
  }

  private static String freePort() throws IOException {
    try (ReservedPort port = new ReservedPort()) {
      return Integer.toString(port.number());
    }
  }

  private void servesAndStops(String... command) throws Exception {
    String port = freePort();
    List<String> words = new ArrayList<>(List.of(command));
    words.addAll(List.of("--port", port, "--device", "cpu"));
    try (RandomAccessFile pipe = fullPipe();
        ChildProcess process = start(words.toArray(String[]::new))) {
      String url = "http://127.0.0.1:" + port;
      process.await("serving", () -> answers(url));
      for (int i = 0; i < 20; i++) {
        HttpResponse<String> reply = ServingProcess.post(url + "/v1/chat/completions", CHAT);
        assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
      }
      process.terminate();

      assertThat(process.exitCode()).isZero();
      assertThat(pipe.getFD().valid()).as("the pipe has been open").isTrue();
    }
  }

  private static boolean answers(String url) throws InterruptedException {
    try {
      return ServingProcess.get(url + "/health").statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  private ChildProcess start(String... command) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(KvasirJvm.command(List.of("-XX:+UseSerialGC", "-Xmx512m"), command));
    return ChildProcess.start(
        command[0], builder.redirectOutput(fifo().toFile()).redirectError(fifo().toFile()));
  }

  private Path fifo() {
    return folder.resolve("pipe");
  }

  /** A pipe into which not a byte fits. It exists as long as this holds it open. */
  private RandomAccessFile fullPipe() throws IOException {
    assertThat(ChildProcess.run("mkfifo", new ProcessBuilder("mkfifo", "" + fifo())).exitCode())
        .isZero();
    RandomAccessFile pipe = new RandomAccessFile(fifo().toFile(), "rw");
    for (String bytes : List.of("4096", "1")) {
      ChildProcess filler =
          ChildProcess.run(
              "dd",
              new ProcessBuilder(
                  "dd", "if=/dev/zero", "of=" + fifo(), "oflag=nonblock", "bs=" + bytes));
      assertThat(filler.exitCode()).as("%s", filler).isNotZero(); // it would have had to wait
    }
    return pipe;
  }
}
