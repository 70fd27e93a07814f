package io.kvasir.gateway.legs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An engine of one role that serves completions and chats, and refuses with 400 what its protocol
 * does not have. Thread-safe.
 */
public abstract class LegServer implements AutoCloseable {

  /** Ranks of each server. */
  public static final int RANKS = 2;

  /** Tokens that prefill servers have cached. */
  public static final int CACHED_TOKENS = 3;

  static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  static {
    System.setProperty("sun.net.httpserver.nodelay", "true");
  }

  private final Setup setup;
  private final String owner;
  private final ExecutorService threads = Executors.newCachedThreadPool(LegServer::daemon);
  private final List<Leg> served = new CopyOnWriteArrayList<>();
  private final List<String> refused = new CopyOnWriteArrayList<>();
  private final AtomicInteger whole = new AtomicInteger();
  private HttpServer http;

  /**
   * What all protocols need.
   *
   * @param prefill whether the server computes prompts for others, or else generates answers
   * @param number of the server in its role
   * @param transfers the KV that servers of both roles move
   * @param faults those of this role
   */
  public record Setup(boolean prefill, int number, Transfers transfers, Faults faults) {}

  LegServer(Setup setup, String owner) {
    this.setup = setup;
    this.owner = owner;
    http = listen(0);
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "leg");
    thread.setDaemon(true);
    return thread;
  }

  private HttpServer listen(int port) {
    HttpServer server = open(port, threads);
    server.createContext("/", this::handle);
    server.start();
    return server;
  }

  static HttpServer open(int port, ExecutorService threads) {
    try {
      HttpServer server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
      server.setExecutor(threads);
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Serves a request after it was read. */
  abstract Answer serve(Leg leg);

  /** The wrong answer to a prefill leg that has every part but its ids. */
  abstract String nullIds();

  /**
   * Describes the server to the gateway.
   *
   * @return as the command line does
   */
  public abstract String description();

  /** The answer to a question, or null. */
  String answerTo(String path) {
    return switch (path) {
      case "/health" -> "{}";
      case "/v1/models" ->
          "{\"object\":\"list\",\"data\":[{\"id\":\"m\",\"object\":\"model\",\"owned_by\":\""
              + owner
              + "\"}]}";
      default -> null;
    };
  }

  boolean prefill() {
    return setup.prefill;
  }

  int number() {
    return setup.number;
  }

  Transfers transfers() {
    return setup.transfers;
  }

  ExecutorService threads() {
    return threads;
  }

  String url(String flavor, String more) {
    String role = setup.prefill ? "prefill" : "decode";
    return "http://127.0.0.1:" + port() + ",flavor=" + flavor + ",role=" + role + more;
  }

  /**
   * The port of the API.
   *
   * @return its number
   */
  public int port() {
    return http.getAddress().getPort();
  }

  /** Computes the prompt and generates the answer. */
  Answer serveWhole(Leg leg) {
    leg.fields().end();
    return recomputed(leg);
  }

  /** Computes the prompt of a leg whose KV has no place. */
  Answer recomputed(Leg leg) {
    whole.incrementAndGet();
    return Answer.to(leg, 0);
  }

  private void handle(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    String text = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    boolean chat = path.equals("/v1/chat/completions");
    if (!chat && !path.equals("/v1/completions")) {
      String answer = answerTo(path);
      send(exchange, answer == null ? 404 : 200, answer == null ? "{}" : answer);
      return;
    }
    try {
      Faults.Kind fault = setup.faults.next();
      if (fault == null) {
        Leg leg = Leg.of(chat, exchange.getRequestHeaders(), text);
        Answer answer = serve(leg);
        served.add(leg);
        answer(exchange, leg, answer);
      } else {
        fail(exchange, fault);
      }
    } catch (Refused e) {
      if (e.status() == 400) {
        refused.add(e.getMessage());
      }
      ObjectNode error = NODES.objectNode();
      error.putObject("error").put("message", e.getMessage()).put("type", "stand_in");
      send(exchange, e.status(), error.toString());
    }
  }

  private void fail(HttpExchange exchange, Faults.Kind fault) throws IOException {
    switch (fault) {
      case EMPTY -> send(exchange, 200, "{}");
      case NULL_IDS -> send(exchange, 200, nullIds());
      case TWO_CHOICES -> {
        String ids = nullIds().replace("_id\":null", "_id\":5");
        send(exchange, 200, ids.replaceFirst("\"choices\":\\[(.*)]", "\"choices\":[$1,$1]"));
      }
      default -> exchange.close();
    }
  }

  private static void answer(HttpExchange exchange, Leg leg, Answer answer) throws IOException {
    if (!leg.streams()) {
      send(exchange, 200, answer.whole(leg).toString());
      return;
    }
    exchange.getResponseHeaders().set("Content-Type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    try (OutputStream out = exchange.getResponseBody()) {
      for (String event : answer.events(leg)) {
        out.write(("data: " + event + "\n\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
      }
    }
  }

  static void send(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  static JsonNode json(String text) {
    try {
      return Leg.JSON.readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends all connections. */
  public void stop() {
    http.stop(0);
  }

  /** Serves again after {@link #stop}, as a new process at the same port. */
  public void restart() {
    http = listen(port());
  }

  /**
   * Lists the legs.
   *
   * @return those that were served, in their order
   */
  public List<Leg> served() {
    return served;
  }

  /**
   * Lists refusals.
   *
   * @return their reasons
   */
  public List<String> refused() {
    return refused;
  }

  /**
   * Counts requests without a part of another server.
   *
   * @return how many were served
   */
  public int whole() {
    return whole.get();
  }

  @Override
  public void close() {
    http.stop(0);
    threads.shutdownNow();
  }
}
