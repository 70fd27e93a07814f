package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.testing.harness.Await;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A gateway in front of scripted engines, its access log and its metrics. The time by which workers
 * rest and connections count as stale passes only by {@link #pass}.
 */
final class TestGateway implements AutoCloseable {

  static final String CHAT = "/v1/chat/completions";
  static final String ASK =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";
  static final String ASK_STREAM =
      "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Gateway gateway;
  private final BlockingQueue<String> lines;
  private final AtomicLong clockNs;

  TestGateway(Gateway gateway, BlockingQueue<String> lines, AtomicLong clockNs) {
    this.gateway = gateway;
    this.lines = lines;
    this.clockNs = clockNs;
  }

  /** Begins a gateway in front of engines without ranks. */
  static TestGatewayBuilder of(ScriptedEngine... engines) {
    return of(Arrays.stream(engines).map(engine -> "http://" + engine.name()).toList());
  }

  /** Begins a gateway in front of workers, each as {@code --worker} describes it. */
  static TestGatewayBuilder of(List<String> workers) {
    return new TestGatewayBuilder(workers);
  }

  /** Begins a gateway in front of a prefill and a decode worker, both with these further keys. */
  static TestGatewayBuilder ofLegs(ScriptedEngine prefill, ScriptedEngine decode, String keys) {
    return of(
        List.of(
            "http://" + prefill.name() + ",role=prefill" + keys,
            "http://" + decode.name() + ",role=decode" + keys));
  }

  Gateway gateway() {
    return gateway;
  }

  RawClient client() {
    return RawClient.to(gateway.port());
  }

  /** Sends one request on a new connection and reads its reply. */
  Reply post(String path, String body, String... fields) {
    try (RawClient client = client()) {
      return client.send(RawClient.post(path, body, fields)).reply();
    }
  }

  Reply get(String path, String... fields) {
    return get(gateway.port(), path, fields);
  }

  private static Reply get(int port, String path, String... fields) {
    String more = fields.length == 0 ? "" : String.join("\r\n", fields) + "\r\n";
    try (RawClient client = RawClient.to(port)) {
      return client.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n" + more + "\r\n").reply();
    }
  }

  /** Checks that an ordinary request succeeds. */
  void works() {
    Reply reply = post(CHAT, ASK);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.text()).contains("Hello you");
  }

  /** Lets time pass for workers that rest and for connections. */
  void pass(long ms) {
    clockNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(ms));
  }

  /** Waits until no worker has a request. */
  void awaitIdle() {
    Await.until(
        "no request is in flight",
        () ->
            gateway.fleets().workers().stream()
                .allMatch(worker -> worker.membership().activeRequests() == 0));
  }

  /** The next line of the access log; waits for it. */
  JsonNode logLine() {
    try {
      return JSON.readTree(Await.next("a line of the access log", lines));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Lines of the access log that were not read yet. */
  int logLines() {
    return lines.size();
  }

  String metrics() {
    return admin("/metrics").text();
  }

  Reply admin(String path) {
    return get(gateway.adminPort(), path);
  }

  /** Changes workers with a key; the body may use single quotes. */
  Reply change(String method, String path, String body, String key) {
    byte[] bytes = body.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    try (RawClient client = RawClient.to(gateway.adminPort())) {
      String field = "Authorization: Bearer " + key;
      return client.send(RawClient.request(method, "/kvasir/workers" + path, bytes, field)).reply();
    }
  }

  /** The sum of all samples of a metric with these labels, each as {@code name="value"}. */
  double metric(String name, String... labels) {
    return metrics()
        .lines()
        .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
        .filter(line -> Arrays.stream(labels).allMatch(line::contains))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  @Override
  public void close() {
    gateway.close();
  }

  /** Splits what is written into lines. */
  static final class Lines extends OutputStream {

    private final BlockingQueue<String> lines;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();

    Lines(BlockingQueue<String> lines) {
      this.lines = lines;
    }

    @Override
    public void write(int value) {
      if (value == '\n') {
        lines.add(line.toString(StandardCharsets.UTF_8));
        line.reset();
      } else {
        line.write(value);
      }
    }
  }
}
