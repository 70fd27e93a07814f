package io.kvasir.gateway.legs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * vLLM with MooncakeConnector: both legs have the id of the transfer, and the decode server finds
 * the prefill rank by the address of its bootstrap server and the engine id that this one states.
 */
public final class Mooncake extends LegServer {

  private static final String TRANSFER = "xfer-[0-9a-f-]{16,36}";

  private final AtomicInteger questions = new AtomicInteger();
  private volatile int generation = 1;
  private HttpServer bootstrap;

  /**
   * Starts a server.
   *
   * @param setup its role
   */
  public Mooncake(Setup setup) {
    super(setup, "vllm");
    bootstrap = bootstrap(0);
  }

  private HttpServer bootstrap(int port) {
    HttpServer server = open(port, threads());
    server.createContext("/query", this::query);
    server.start();
    return server;
  }

  private void query(HttpExchange exchange) throws IOException {
    if (!exchange.getRequestMethod().equals("GET")) {
      send(exchange, 405, "{}");
      return;
    }
    questions.incrementAndGet();
    ObjectNode ranks = NODES.objectNode();
    for (int rank = RANKS - 1; rank >= 0; rank--) {
      ObjectNode entry = ranks.putObject(Integer.toString(rank)).put("engine_id", engineId(rank));
      entry.putObject("worker_addr").putObject("0").put("0", "10.0.0.5:" + (40_000 + rank));
    }
    send(exchange, 200, ranks.toString());
  }

  private String engineId(int rank) {
    return "engine-" + number() + "-" + generation + "_dp" + rank;
  }

  private String address() {
    return "127.0.0.1:" + bootstrap.getAddress().getPort();
  }

  @Override
  public String description() {
    String own = prefill() ? ",bootstrap=" + address() : "";
    return url("vllm", ",disagg=mooncake,ranks=2,block_size=16" + own);
  }

  @Override
  Answer serve(Leg leg) {
    if (prefill()) {
      return servePrefill(leg);
    }
    return leg.body().has("kv_transfer_params") ? serveDecode(leg) : serveWhole(leg);
  }

  private static String transferId(Leg leg) {
    String id = leg.body().path("kv_transfer_params").path("transfer_id").textValue();
    if (!id.matches(TRANSFER)) {
      throw Refused.field("transfer_id must be xfer- and a number or UUID in hex: " + id);
    }
    return id;
  }

  private Answer servePrefill(Leg leg) {
    leg.fields().need("kv_transfer_params", Fields.OBJECT).end();
    leg.oneToken();
    Fields.of("kv_transfer_params", leg.body().path("kv_transfer_params"))
        .need("do_remote_decode", Fields.TRUE)
        .need("do_remote_prefill", Fields.FALSE)
        .need("transfer_id", Fields.TEXT)
        .end();
    int rank = leg.rankHeader(RANKS);
    String place = "http://" + address() + " " + engineId(rank);
    transfers().pin(place, transferId(leg), leg.prompt(), NODES.nullNode());
    return Answer.first(leg, CACHED_TOKENS, "length");
  }

  private Answer serveDecode(Leg leg) {
    leg.fields().need("kv_transfer_params", Fields.OBJECT).end();
    leg.rankHeader(RANKS);
    JsonNode params = leg.body().path("kv_transfer_params");
    Fields.of("kv_transfer_params", params)
        .need("do_remote_prefill", Fields.TRUE)
        .need("do_remote_decode", Fields.FALSE)
        .need("transfer_id", Fields.TEXT)
        .need("remote_bootstrap_addr", Fields.TEXT)
        .need("remote_engine_id", Fields.TEXT)
        .end();
    String place =
        params.path("remote_bootstrap_addr").textValue()
            + " "
            + params.path("remote_engine_id").textValue();
    transfers().take(place, transferId(leg), leg.prompt(), true);
    return Answer.to(leg, leg.promptTokens());
  }

  @Override
  String nullIds() {
    return "{\"choices\":null}";
  }

  /**
   * Counts {@code /query}.
   *
   * @return how often it was asked
   */
  public int questions() {
    return questions.get();
  }

  @Override
  public void stop() {
    super.stop();
    bootstrap.stop(0);
  }

  @Override
  public void restart() {
    generation = 2;
    bootstrap = bootstrap(bootstrap.getAddress().getPort());
    super.restart();
  }

  @Override
  public void close() {
    bootstrap.stop(0);
    super.close();
  }
}
