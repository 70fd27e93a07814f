package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.LongRuns;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A gateway in front of uvicorn, which closes idle connections. Requests come in bursts, and each
 * burst begins when the server closes a connection that was used during the burst before: just when
 * it closes those of the gateway.
 */
@Tag("process")
class UvicornTest {

  private static final int BURST = 150;
  private static final int CLIENTS = 40;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final long seed = Long.getLong("kvasir.test.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
  private ServingProcess uvicorn;
  private ServingProcess gateway;

  private void start(int keepAliveSeconds) throws IOException {
    ProcessBuilder stub =
        new ProcessBuilder(
            Tools.python(),
            "-B",
            Tools.CLIENTS.resolve("stub_server.py").toString(),
            Integer.toString(keepAliveSeconds));
    uvicorn = ServingProcess.of("stub_server.py", stub);
    gateway = ServingProcess.gateway(List.of(uvicorn.url()));
  }

  @BeforeEach
  void requirePackages() throws IOException {
    Tools.requirePython("fastapi", "uvicorn");
  }

  @AfterEach
  void stop() {
    clients.shutdownNow();
    if (gateway != null) {
      gateway.close();
    }
    if (uvicorn != null) {
      uvicorn.close();
    }
  }

  /** The gateway closes its idle connections before the server does. */
  @Test
  void noRequestFailsWithTheServersDefaults() throws Exception {
    start(5);
    assertNoFailure(LongRuns.cases(2, 60));
  }

  /** Connections are closed while requests are on their way, so the gateway repeats these. */
  @Test
  void noRequestFailsIfTheServerClosesConnectionsBeforeTheGatewayDoes() throws Exception {
    start(1);
    assertNoFailure(LongRuns.cases(4, 60));
  }

  private void assertNoFailure(int bursts) throws Exception {
    List<String> failures = new ArrayList<>();
    for (int i = 0; i < bursts; i++) {
      try (Socket used = new Socket()) {
        failures.addAll(burst(i * BURST, used));
        if (i < bursts - 1) {
          awaitEnd(used);
        }
      }
    }
    String figures =
        String.format(
            "%d requests, %d failures, %.0f repeated attempts, -Dkvasir.test.seed=%d",
            bursts * BURST, failures.size(), gateway.metric("kvasir_retries_total"), seed);
    assertThat(failures).as("%s%n%s%n%s", figures, gateway, uvicorn).isEmpty();
    System.out.println(figures);
  }

  /** Sends a burst of requests to the gateway, and among them one to the server itself. */
  private List<String> burst(int first, Socket direct) throws Exception {
    List<Callable<String>> requests = new ArrayList<>();
    for (int i = first; i < first + BURST; i++) {
      int number = i;
      requests.add(() -> problem(number));
    }
    requests.add(random.nextInt(requests.size()), () -> problemOf(direct));
    List<String> failures = new ArrayList<>();
    for (Future<String> result : clients.invokeAll(requests)) {
      String problem = Await.result("a request", result);
      if (problem != null) {
        failures.add(problem);
      }
    }
    return failures;
  }

  /** Sends a request over a connection and leaves it open. */
  private String problemOf(Socket direct) throws IOException {
    URI url = URI.create(uvicorn.url());
    direct.connect(new InetSocketAddress(url.getHost(), url.getPort()));
    direct.setSoTimeout(Await.limitMs());
    direct
        .getOutputStream()
        .write("GET /health HTTP/1.1\r\nhost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    return direct.getInputStream().read() == 'H' ? null : "no answer from the server itself";
  }

  /** Waits until the server closes a connection. */
  private static void awaitEnd(Socket connection) throws IOException {
    InputStream in = connection.getInputStream();
    while (in.read() >= 0) {
      // the rest of the answer
    }
  }

  /** Sends one request; null if its answer is right. Every other answer is a stream. */
  private String problem(int number) throws InterruptedException {
    String text = "request " + number + " of many" + " and on".repeat(number % 20);
    boolean streamed = number % 2 == 1;
    String body =
        "{\"model\":\"stub\",\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]}"
            .formatted(streamed, text);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(gateway.url() + "/v1/chat/completions"))
            .timeout(Await.limit())
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    try {
      HttpResponse<String> reply =
          ServingProcess.HTTP.send(request, HttpResponse.BodyHandlers.ofString());
      boolean right =
          reply.statusCode() == 200
              && text.equals(streamed ? streamedText(reply.body()) : wholeText(reply.body()));
      return right ? null : number + ": " + reply.statusCode() + " " + reply.body();
    } catch (IOException e) {
      return number + ": " + e;
    }
  }

  private static String wholeText(String reply) throws IOException {
    return JSON.readTree(reply).at("/choices/0/message/content").asText();
  }

  private static String streamedText(String reply) throws IOException {
    StringBuilder text = new StringBuilder();
    if (!reply.endsWith("data: [DONE]\n\n")) {
      return "(no end)";
    }
    for (String line : reply.lines().toList()) {
      if (line.startsWith("data: {")) {
        JsonNode event = JSON.readTree(line.substring("data: ".length()));
        text.append(event.at("/choices/0/delta/content").asText(""));
      }
    }
    return text.toString();
  }
}
