package io.kvasir.gateway.admin;

import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.observe.GatewayMetrics;
import io.kvasir.gateway.proxy.Probe;
import io.kvasir.gateway.proxy.Services;
import io.kvasir.gateway.route.EndpointTokens;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleets;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Serves the admin port: metrics, health, readiness and the workers. Thread-safe. */
public final class AdminHandler implements Consumer<Exchange> {

  private static final String TEXT = "text/plain; charset=utf-8";

  private final Services services;
  private final GatewayMetrics metrics;
  private final ModelFleets fleets;
  private final BooleanSupplier ready;
  private final AdminHosts hosts;
  private final WorkersHandler workers;
  private final RanksHandler ranks;
  private final ParityHandler parity;
  private final ExplainHandler explain;
  private final QueryHandler query;
  private final DecisionsHandler decisions;
  private final DashboardHandler dashboard = new DashboardHandler();

  /**
   * Creates a handler.
   *
   * @param services what all requests share
   * @param ready whether the gateway takes requests
   * @param hosts the names under which it answers
   * @param workers lists and changes workers
   */
  public AdminHandler(
      Services services, BooleanSupplier ready, AdminHosts hosts, WorkersHandler workers) {
    this.services = services;
    this.hosts = hosts;
    this.workers = workers;
    this.metrics = services.metrics();
    this.fleets = services.fleets();
    this.ready = ready;
    this.ranks = new RanksHandler(fleets, services.tokens());
    this.parity = new ParityHandler(fleets);
    this.explain = new ExplainHandler(services);
    this.query = new QueryHandler(services);
    this.decisions = new DecisionsHandler(services.decisions());
  }

  @Override
  public void accept(Exchange exchange) {
    if (!hosts.allows(exchange.headers().get("host"))) {
      reply(
          exchange,
          421,
          TEXT,
          "the field Host must be an address, localhost or a name of --admin-allowed-hosts\n");
      return;
    }
    String path = exchange.target().replaceFirst("\\?.*", "");
    if (WorkersHandler.serves(path)) {
      workers.accept(exchange, path);
      return;
    }
    boolean posts = path.equals("/kvasir/explain") || path.equals("/query");
    String method = posts ? "POST" : "GET";
    boolean heads = !posts && exchange.method().equals("HEAD");
    if (!exchange.method().equals(method) && !heads) {
      reply(exchange, 405, TEXT, "the method must be " + method + "\n");
      return;
    }
    if (dashboard.serves(path)) {
      dashboard.accept(exchange, path);
      return;
    }
    Probe probe = Probe.of(path);
    if (probe != null) {
      probe(exchange, probe, exchange.target().matches(".*[?&]verbose(=.*|&.*)?"));
      return;
    }
    switch (path) {
      case "/kvasir/explain" -> explain.accept(exchange);
      case "/kvasir/parity" -> parity.accept(exchange);
      case "/kvasir/ranks" -> ranks.accept(exchange);
      case "/kvasir/decisions" -> decisions.accept(exchange);
      case "/query" -> query.accept(exchange);
      case "/metrics" ->
          reply(
              exchange,
              200,
              "text/plain; version=0.0.4; charset=utf-8",
              metrics.scrape() + FollowedMetrics.text(fleets, services.tokens()));
      case "/workers" -> workers.list(exchange);
      default ->
          reply(
              exchange,
              404,
              TEXT,
              "known paths: /metrics /health /ready /workers /kvasir/workers /kvasir/ranks /kvasir/decisions"
                  + " /kvasir/dashboard /kvasir/parity /kvasir/explain /query\n");
    }
  }

  private void probe(Exchange exchange, Probe probe, boolean verbose) {
    if (probe == Probe.LIVE) {
      reply(exchange, 200, TEXT, "ok\n");
    } else if (ready.getAsBoolean()) {
      reply(exchange, 200, TEXT, "ready\n" + (verbose ? exactness() : ""));
    } else {
      reply(exchange, 503, TEXT, "no worker is healthy, or the gateway stops\n");
    }
  }

  /** A line for each model and endpoint that was used. */
  private String exactness() {
    StringBuilder text = new StringBuilder();
    for (Map.Entry<String, ModelFleet> fleet : new TreeMap<>(fleets.promptFleets()).entrySet()) {
      for (EndpointTokens tokens : fleet.getValue().exactness().endpoints()) {
        text.append(fleet.getKey()).append(' ').append(tokens.endpoint()).append(' ');
        text.append(fleet.getValue().exactness(tokens)).append('\n');
      }
    }
    return text.toString();
  }

  private static void reply(Exchange exchange, int status, String type, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.head(
        status,
        new Headers()
            .add("content-type", type)
            .add("content-length", Integer.toString(bytes.length)));
    if (!exchange.method().equals("HEAD")) {
      exchange.write(Unpooled.wrappedBuffer(bytes));
    }
    exchange.end();
  }
}
