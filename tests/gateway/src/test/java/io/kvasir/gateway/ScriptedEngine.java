package io.kvasir.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.testing.harness.Await;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An engine whose answer to each request is a script over the raw connection. It answers {@code
 * /health}, {@code /v1/models} and questions about itself without the script. A thread of its own
 * serves each connection.
 */
final class ScriptedEngine implements AutoCloseable {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final Logger LOG = LoggerFactory.getLogger(ScriptedEngine.class);

  /** The answer to one request. */
  interface Script {
    void answer(Received request, EngineLink link) throws Exception;
  }

  /**
   * A request as it arrived.
   *
   * @param number its number on its connection, from 0
   */
  @SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
  record Received(HttpInput.Head head, byte[] body, int number) {

    String method() {
      return head.line().split(" ", -1)[0];
    }

    String target() {
      return head.line().split(" ", -1)[1];
    }

    String field(String name) {
      return head.field(name);
    }

    String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    JsonNode json() {
      try {
        return JSON.readTree(body);
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    boolean streams() {
      return text().contains("\"stream\":true");
    }
  }

  /** The answer of an engine that closes the connection instead. */
  static final String CUT = "cut";

  /** Endpoints at which engines describe themselves; this one has those that a test sets. */
  private static final Set<String> FACTS =
      Set.of(
          "/version",
          "/metrics",
          "/server_info",
          "/get_server_info",
          "/model_info",
          "/get_model_info",
          "/prometheus/metrics");

  private final ServerSocket server;
  private volatile String models;
  private final Map<String, String> facts = new ConcurrentHashMap<>();
  private final Set<String> questions = ConcurrentHashMap.newKeySet();
  private final Set<EngineLink> links = ConcurrentHashMap.newKeySet();
  private final BlockingQueue<Received> requests = new LinkedBlockingQueue<>();
  private final AtomicInteger received = new AtomicInteger();
  private volatile Script script;
  private volatile boolean healthy = true;
  private volatile String key;
  private volatile CountDownLatch healthAfter = new CountDownLatch(0);
  private volatile boolean readsBodies = true;

  private ScriptedEngine(int port, String models, Script script) throws IOException {
    this.server = new ServerSocket(port, 200, InetAddress.getLoopbackAddress());
    this.models = models;
    this.script = script;
    start("engine-" + server.getLocalPort(), this::accept);
  }

  /** Starts an engine that serves the model {@code m}. */
  static ScriptedEngine start(Script script) {
    return start(List.of("m"), script);
  }

  static ScriptedEngine start(List<String> models, Script script) {
    return start(
        0,
        "{\"object\":\"list\",\"data\":[{\"id\":\""
            + String.join("\"},{\"id\":\"", models)
            + "\"}]}",
        script);
  }

  private static ScriptedEngine start(int port, String models, Script script) {
    try {
      return new ScriptedEngine(port, models, script);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Starts an engine at the port of this one, which was killed; with its script and its facts. */
  ScriptedEngine again() {
    ScriptedEngine next = start(port(), models, script);
    next.facts.putAll(facts);
    return next;
  }

  /** Starts an engine that answers every request. */
  static ScriptedEngine good() {
    return start(EngineLink::answer);
  }

  private static void start(String name, Runnable run) {
    Thread thread = new Thread(run, name);
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket socket = server.accept();
        if (server.isClosed()) { // a waiting accept may still return a connection
          socket.close();
          return;
        }
        start("link-" + socket.getPort(), () -> serve(socket));
      }
    } catch (IOException e) {
      // closed
    }
  }

  private void serve(Socket socket) {
    try (EngineLink link = new EngineLink(socket)) {
      links.add(link);
      HttpInput in = new HttpInput(new BufferedInputStream(socket.getInputStream()));
      link.input(in);
      int number = 0;
      for (HttpInput.Head head = in.head();
          head != null && !socket.isClosed();
          head = socket.isClosed() ? null : in.head()) {
        number += serve(new Received(head, readsBodies ? in.body() : new byte[0], number), link);
      }
    } catch (SocketException | EOFException e) {
      // the gateway or the script closed the connection
    } catch (Exception e) {
      LOG.error("a script failed", e);
    } finally {
      links.removeIf(EngineLink::closed);
    }
  }

  private int serve(Received request, EngineLink link) throws Exception {
    if (key != null && !("Bearer " + key).equals(request.field("authorization"))) {
      link.json(401, "{\"error\":\"Unauthorized\"}");
      return 0;
    }
    switch (request.target()) {
      case "/health" -> {
        Await.opened("the signal to answer", healthAfter);
        link.json(healthy ? 200 : 503, "{}");
      }
      case "/v1/models" -> link.json(200, models);
      default -> {
        if (FACTS.contains(request.target())) {
          questions.add(request.target());
          String fact = facts.getOrDefault(request.target(), "404");
          if (fact.equals(CUT)) {
            link.close();
          } else if (fact.matches("[0-9]{3}")) {
            link.json(Integer.parseInt(fact), "{}");
          } else {
            link.json(200, fact);
          }
          return 0;
        }
        received.incrementAndGet();
        requests.add(request);
        script.answer(request, link);
        return 1;
      }
    }
    return 0;
  }

  int port() {
    return server.getLocalPort();
  }

  /** The worker's name in logs and metrics. */
  String name() {
    return "127.0.0.1:" + port();
  }

  void script(Script next) {
    script = next;
  }

  /** Replaces the answer to {@code GET /v1/models}. */
  void models(String answer) {
    models = answer;
  }

  /** Sets the answer to a question about the engine; or its status, or {@link #CUT}. */
  ScriptedEngine fact(String target, String answer) {
    facts.put(target, answer);
    return this;
  }

  /** From now on all requests must present a key, the gateway's own questions included. */
  ScriptedEngine demand(String apiKey) {
    key = apiKey;
    return this;
  }

  /** The questions about the engine that were asked. */
  Set<String> questions() {
    return questions;
  }

  void healthy(boolean now) {
    healthy = now;
  }

  /** Answers to {@code GET /health} wait for a signal from now on. */
  void healthAfter(CountDownLatch signal) {
    healthAfter = signal;
  }

  /** From now on scripts start before the request's body is read. */
  void leavesBodiesUnread() {
    readsBodies = false;
  }

  /** The next request; waits for it. Health checks do not count. */
  Received next() {
    return Await.next("a request at " + name(), requests);
  }

  /** Requests so far. Health checks do not count. */
  int received() {
    return received.get();
  }

  /** Stops listening and resets all connections. */
  void kill() {
    close();
    links.forEach(EngineLink::reset);
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
