package io.kvasir.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A gateway in front of uvicorn, which closes idle connections. Requests come in bursts, and the
 * pauses between them end about when the server closes its connections.
 *
 * <p>{@code -Dkvasir.uvicorn.requests=10000} sends that many requests.
 */
@Timeout(3600)
class UvicornTest {

  private static final int SHORT = 600;
  private static final int REQUESTS = Integer.getInteger("kvasir.uvicorn.requests", SHORT);
  private static final int CLIENTS = 40;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final long seed = Long.getLong("kvasir.test.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
  private ServingProcess uvicorn;
  private ServingProcess gateway;

  private void start(int keepAliveSeconds) throws IOException, InterruptedException {
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
  void requirePackages() throws IOException, InterruptedException {
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

  @Test
  void noRequestFailsWithTheServersDefaults() throws Exception {
    start(5);
    // The gateway closes its idle connections after 3 s, before the server does.
    if (REQUESTS > SHORT) {
      assertNoFailure(200, 3_000, 7_000);
    } else {
      assertNoFailure(150, 5_000, 5_200);
    }
  }

  /** Connections are closed while requests are on their way, so the gateway repeats these. */
  @Test
  void noRequestFailsIfTheServerClosesConnectionsBeforeTheGatewayDoes() throws Exception {
    start(1);
    assertNoFailure(REQUESTS > SHORT ? 200 : 100, 950, 1_050);
  }

  private void assertNoFailure(int burst, int leastPauseMs, int mostPauseMs) throws Exception {
    Future<Integer> idle = clients.submit(this::readOfIdleConnection);
    List<String> failures = new ArrayList<>();
    for (int sent = 0; sent < REQUESTS; sent += burst) {
      if (sent > 0) {
        // The pause is the input of this test: it decides which connections are still open.
        Thread.sleep(leastPauseMs + random.nextInt(mostPauseMs - leastPauseMs + 1));
      }
      failures.addAll(burst(sent, Math.min(burst, REQUESTS - sent)));
    }
    String figures =
        String.format(
            "%d requests, %d failures, %.0f repeated attempts, -Dkvasir.test.seed=%d",
            REQUESTS, failures.size(), gateway.metric("kvasir_retries_total"), seed);
    assertThat(failures).as("%s%n%s%n%s", figures, gateway, uvicorn).isEmpty();
    assertThat(idle.get()).as("the server closes idle connections").isEqualTo(-1);
    System.out.println(figures);
  }

  /** Waits until the server closes a connection that has served a request. */
  private int readOfIdleConnection() throws IOException {
    URI url = URI.create(uvicorn.url());
    try (Socket socket = new Socket(url.getHost(), url.getPort())) {
      socket.setSoTimeout((int) ServingProcess.PATIENCE.toMillis());
      socket
          .getOutputStream()
          .write("GET /health HTTP/1.1\r\nhost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      InputStream in = socket.getInputStream();
      int read;
      do {
        read = in.read();
      } while (read >= 0);
      return read;
    }
  }

  private List<String> burst(int first, int count) throws Exception {
    List<Callable<String>> requests = new ArrayList<>();
    for (int i = first; i < first + count; i++) {
      int number = i;
      requests.add(() -> problem(number));
    }
    List<String> failures = new ArrayList<>();
    for (Future<String> result : clients.invokeAll(requests)) {
      if (result.get() != null) {
        failures.add(result.get());
      }
    }
    return failures;
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
            .timeout(ServingProcess.PATIENCE)
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
