package io.kvasir.benchmarks.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.kvasir.testing.harness.Await;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The stub engine and the load generator agree about what was sent, and wrong answers are seen. */
@Tag("process")
class BenchProgramsTest {

  @TempDir private static Path folder;
  private static BenchPrograms programs;

  private StubProcess engine;
  private LoadGenerator load;

  @BeforeAll
  static void compile() throws IOException {
    try {
      Tools.find("cc", "cc is missing: apt-get install gcc libc6-dev");
    } catch (IOException e) {
      assumeTrue(false, e.getMessage());
    }
    Path root = Path.of(Objects.requireNonNull(System.getProperty("kvasir.root")));
    programs = BenchPrograms.compile(root, folder.resolve("bench"));
  }

  @BeforeEach
  void start() throws IOException {
    engine = StubProcess.start(programs.stubEngine());
    load = new LoadGenerator(programs.loadGenerator());
  }

  @AfterEach
  void end() {
    engine.close();
  }

  @Test
  void everyChunkOfEveryStreamArrives() throws IOException {
    LoadReport report =
        run("streams", "--streams 20 --chunks 5 --interval-ms 2 --seconds 1 --warmup 0");
    assertThat(report.number("all_requests")).isPositive();
    assertThat(report.number("all_chunks")).isEqualTo(5 * report.number("all_requests"));
    assertThat(report.number("chunk_us.count")).isEqualTo(report.number("chunks"));
    assertThat(report.number("chunk_us.p50")).isPositive();
    assertThat(report.number("first_byte_us.p50")).isPositive();
    LoadReport stats = engine.stats();
    assertThat(stats.number("streams")).isEqualTo(report.number("all_requests"));
    assertThat(stats.number("chunks")).isEqualTo(report.number("all_chunks"));
    assertThat(stats.number("connections")).isEqualTo(21);
  }

  @Test
  void exactlyTheCountedRequestsAreSent() throws IOException {
    LoadReport report =
        run("count", "--requests 1000 --connections 8 --stream-every 4 --chunks 3 --burst 300");
    assertThat(report.number("all_requests")).isEqualTo(1000);
    assertThat(report.number("all_chunks")).isEqualTo(750);
    LoadReport stats = engine.stats();
    assertThat(stats.number("requests")).isEqualTo(1001); // this one too
    assertThat(stats.number("streams")).isEqualTo(250);
    assertThat(stats.number("disconnects")).isZero();
  }

  @Test
  void saturationReusesItsConnections() throws IOException {
    LoadReport report = run("saturate", "--connections 4 --seconds 1 --warmup 0");
    assertThat(report.number("request_us.count")).isEqualTo(report.number("requests")).isPositive();
    assertThat(report.time("first_byte_us", "p50")).isNaN(); // there were no streams
    assertThat(engine.stats().number("connections")).isEqualTo(5);
  }

  @Test
  void heldStreamsEndWithTheirClients() throws IOException {
    LoadReport report =
        load.hold(
            engine.port(), 200, () -> assertThat(engine.stats().number("running")).isEqualTo(200));
    assertThat(report.failed()).as(report.firstError()).isZero();
    assertThat(report.number("all_chunks")).isEqualTo(200);
    Await.until("the end of all streams", () -> engine.stats().number("running") == 0);
    assertThat(engine.stats().number("disconnects")).isEqualTo(200);
  }

  @Test
  void streamsThatBreakWhileTheyAreHeldAreReported() throws IOException {
    LoadReport report = load.hold(engine.port(), 10, () -> engine.close());
    assertThat(report.number("errors.closed")).isPositive();
  }

  @Test
  void theEngineReadsChunkedBodiesAndTheirSettings() throws IOException {
    byte[] body = "{\"user\": \"me\", \"stream\" : true}".getBytes(StandardCharsets.UTF_8);
    String answer =
        engine.send(
            engine
                .request("/v1/completions")
                .header("x-stub-chunks", "2")
                .header("x-stub-interval-ms", "0")
                .POST(
                    HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body)))
                .build());
    assertThat(answer)
        .contains("\"id\":\"cmpl-me\"", "\"text\":\" word1\"")
        .doesNotContain("word2");
    assertThat(answer).doesNotContain("usage").endsWith("data: [DONE]\n\n");
    assertThat(engine.get("/v1/models")).contains("\"id\":\"stub-model\"");
    assertThat(engine.get("/metrics")).contains("vllm:num_requests_running 0\n");
    assertThat(engine.get("/health")).isEqualTo("{}");
  }

  @Test
  void theEngineEndsWithItsParent() throws IOException {
    engine.process().input().close();
    assertThat(engine.process().exitCode()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "200, , , ''",
    "503, , , status",
    "200, data: [DONE]\\n\\n, '', end",
    "200, stop, null, content",
    "200, word1, word2, content",
    "200, chatcmpl-, chatcmpl-1, content",
    "200, data: , '', content",
    "200, \"usage\", \"used\", content"
  })
  void wrongAnswersAreSeen(int status, String found, String replacement, String error)
      throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> answer(exchange, status, found, replacement));
    server.start();
    try {
      LoadReport report =
          load.run(
              server.getAddress().getPort(),
              "count",
              split("--requests 5 --connections 1 --stream-every 1 --chunks 2"));
      assertThat(report.failed()).as(report.firstError()).isEqualTo(error.isEmpty() ? 0 : 1);
      if (!error.isEmpty()) {
        assertThat(report.number("errors." + error)).isEqualTo(1);
        assertThat(report.firstError()).startsWith(error + ": ");
      }
    } finally {
      server.stop(0);
    }
  }

  /** The engine's answer, with a fault. */
  private static void answer(HttpExchange exchange, int status, String found, String replacement)
      throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    Matcher user = Pattern.compile("\"user\":\"(\\w+)\"").matcher(body);
    assertThat(user.find()).isTrue();
    String begin = "data: {\"id\":\"chatcmpl-" + user.group(1) + "\",\"t\":1,";
    String text =
        begin
            + "\"took\":1,\"choices\":[{\"delta\":{\"content\":\" word0\"},\"finish_reason\":null}]}\n\n"
            + begin
            + "\"choices\":[{\"delta\":{\"content\":\" word1\"},\"finish_reason\":null}]}\n\n"
            + begin
            + "\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
            + begin
            + "\"choices\":[],\"usage\":{\"total_tokens\":2}}\n\n"
            + "data: [DONE]\n\n";
    if (found != null) {
      text = text.replace(found.replace("\\n", "\n"), replacement);
    }
    exchange.getResponseHeaders().add("content-type", "text/event-stream");
    exchange.sendResponseHeaders(status, 0);
    exchange.getResponseBody().write(text.getBytes(StandardCharsets.UTF_8));
    exchange.close();
  }

  @Test
  void aWrongOptionIsAnError() {
    assertThatThrownBy(() -> load.run(1, "streams", "--speed", "1"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no option '--speed'");
    assertThatThrownBy(() -> BenchPrograms.compile(folder, folder))
        .hasMessageContaining("no such folder");
  }

  private LoadReport run(String mode, String options) throws IOException {
    LoadReport report = load.run(engine.port(), mode, split(options));
    assertThat(report.failed()).as(report.firstError()).isZero();
    return report;
  }

  private static String[] split(String options) {
    return options.split(" ", -1);
  }
}
