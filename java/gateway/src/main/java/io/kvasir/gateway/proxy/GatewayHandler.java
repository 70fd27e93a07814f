package io.kvasir.gateway.proxy;

import io.kvasir.gateway.exchange.Exchange;
import io.kvasir.gateway.exchange.Headers;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.ConversationId;
import io.kvasir.gateway.openai.InvalidBodyException;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleet.Target;
import io.kvasir.model.Errors;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the public port: engines' endpoints by forwarding, models and health by itself.
 *
 * <p>Thread-safe; an exchange stays on its event loop.
 */
public final class GatewayHandler implements Consumer<Exchange> {

  private static final Logger LOG = LoggerFactory.getLogger(GatewayHandler.class);
  private static final String RESPONSES = "/v1/responses/";
  private static final String MODELS = "/v1/models";
  private static final String EXPLAIN = ForwardedHeaders.KVASIR_PREFIX + "explain";

  private final Services services;
  private final ResponseOwners owners = new ResponseOwners();
  private final Set<ProxyRun> runs = ConcurrentHashMap.newKeySet();
  private final AtomicInteger reading = new AtomicInteger();
  private volatile boolean draining;

  /**
   * Creates a handler.
   *
   * @param services what all requests share
   */
  public GatewayHandler(Services services) {
    this.services = services;
  }

  /** {@return requests in progress, those that arrive or wait included} */
  public int inProgress() {
    return runs.size() + reading.get();
  }

  /** {@return whether new requests are refused} */
  public boolean draining() {
    return draining;
  }

  /** Refuses new requests from now on. */
  public void drain() {
    draining = true;
  }

  /** Ends the requests in progress, on their event loops. */
  public void cut() {
    runs.forEach(run -> run.onLoop(run::cut));
  }

  /**
   * Reports to the fleet routers which attempts are in flight, on the requests' event loops: their
   * bookings do not end before they do. To be called each minute.
   */
  public void onAlive() {
    runs.forEach(run -> run.onLoop(run::onAlive));
  }

  @Override
  public void accept(Exchange exchange) {
    try {
      handle(exchange);
    } catch (RuntimeException e) {
      LOG.error("a request failed in the gateway itself", e);
      Replies.problem(exchange, null, "none", Problem.internal(), new Headers());
    }
  }

  private void handle(Exchange exchange) {
    String target = exchange.target();
    int query = target.indexOf('?');
    String path = query < 0 ? target : target.substring(0, query);
    if (path.equals("/health") || path.equals("/ready")) {
      health(exchange, path.equals("/ready"));
      return;
    }
    Endpoint endpoint = Endpoint.of(path);
    String id = RequestIds.of(exchange.headers().get(ForwardedHeaders.REQUEST_ID));
    Tally tally =
        new Tally(
            id,
            exchange,
            endpoint == null ? "none" : endpoint.id(),
            services.metrics(),
            services.log());
    if (draining) {
      refuse(
          exchange,
          endpoint,
          tally,
          Problem.overloaded(503, "shutting_down", "the gateway is shutting down", 1));
    } else if (endpoint == null) {
      refuse(
          exchange,
          null,
          tally,
          Problem.notFound(
              "not_found",
              null,
              "no such path: "
                  + Errors.shown(path)
                  + (path.equals("/metrics") ? "; metrics are on the admin port" : "")));
    } else if (path.equals(MODELS) || path.startsWith(MODELS + "/")) {
      models(exchange, path, tally);
    } else if (endpoint != Endpoint.OTHER && !exchange.method().equals("POST")) {
      refuse(exchange, endpoint, tally, wrongMethod("POST"));
    } else if (path.startsWith(RESPONSES)) {
      storedResponse(exchange, path, tally);
    } else if (endpoint == Endpoint.OTHER && !isJson(exchange)) {
      streamed(exchange, tally);
    } else {
      read(exchange, endpoint, tally);
    }
  }

  private static Problem wrongMethod(String right) {
    return Problem.of(405, "method_not_allowed", "the method must be " + right);
  }

  private void health(Exchange exchange, boolean ready) {
    boolean good = !ready || (!draining && services.fleets().ready());
    Replies.json(
        exchange, good ? 200 : 503, good ? "{\"status\":\"ok\"}" : "{\"status\":\"not ready\"}");
  }

  private void models(Exchange exchange, String path, Tally tally) {
    if (!exchange.method().equals("GET") && !exchange.method().equals("HEAD")) {
      refuse(exchange, Endpoint.OTHER, tally, wrongMethod("GET"));
      return;
    }
    Set<String> models = services.fleets().models();
    if (path.equals(MODELS)) {
      Replies.json(exchange, 200, ModelsJson.list(models));
      tally.close(200);
      return;
    }
    String name = decoded(path.substring(MODELS.length() + 1));
    if (models.contains(name)) {
      Replies.json(exchange, 200, ModelsJson.model(name));
      tally.close(200);
    } else {
      refuse(exchange, Endpoint.OTHER, tally, unknownModel(name));
    }
  }

  private static String decoded(String segment) {
    try {
      return URLDecoder.decode(segment.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return segment;
    }
  }

  private Problem unknownModel(String model) {
    return Problem.notFound(
        "model_not_found",
        "model",
        "no worker serves the model '"
            + Errors.shown(model)
            + "'; known: "
            + Errors.shown(String.join(", ", services.fleets().models())));
  }

  private static boolean isJson(Exchange exchange) {
    String type = exchange.headers().get("content-type");
    return type != null && type.toLowerCase(Locale.ROOT).startsWith("application/json");
  }

  // ---- requests whose body is read ----------------------------------------------------------

  private void read(Exchange exchange, Endpoint endpoint, Tally tally) {
    ProxySettings settings = services.settings();
    BodyReader[] reader = {null};
    reader[0] =
        new BodyReader(
            exchange,
            new BodyReader.Limits(
                settings.maxBodyBytes(), settings.bodyTimeoutMs(), services.bodies()),
            body -> {
              try {
                onBody(exchange, endpoint, tally, body, reader[0]);
              } catch (RuntimeException e) {
                LOG.error("a request failed in the gateway itself", e);
                reader[0].release();
                refuse(exchange, endpoint, tally, Problem.internal());
              } finally {
                reading.decrementAndGet();
              }
            },
            problem -> {
              refuse(exchange, endpoint, tally, problem);
              reading.decrementAndGet();
            });
    reading.incrementAndGet();
    exchange.onGone(
        () -> {
          reading.addAndGet(reader[0].isOver() ? 0 : -1);
          reader[0].stop();
          reader[0].release();
          tally.onError("the client went away");
          tally.close(Problem.CLIENT_GONE);
        });
    reader[0].start();
  }

  private void onBody(
      Exchange exchange, Endpoint endpoint, Tally tally, byte[] bytes, BodyReader reader) {
    Inbound inbound;
    try {
      inbound = inbound(exchange, endpoint, tally, BodyScan.of(bytes, 0, bytes.length));
    } catch (InvalidBodyException e) {
      reader.release();
      refuse(exchange, endpoint, tally, Problem.invalid(e.param(), e.reason()));
      return;
    }
    tally.model(inbound.model());
    tally.targets(inbound.urgency().targets(), inbound.streams());
    ModelFleet fleet = services.fleets().fleet(inbound.model());
    if (fleet == null && !(endpoint == Endpoint.OTHER && inbound.model().isEmpty())) {
      reader.release();
      refuse(exchange, endpoint, tally, unknownModel(inbound.model()));
      return;
    }
    run(exchange, inbound, fleet, owner(inbound), tally, reader::release).start();
  }

  private Inbound inbound(Exchange exchange, Endpoint endpoint, Tally tally, BodyScan body)
      throws InvalidBodyException {
    Headers headers = exchange.headers();
    String model = body.model();
    if (model == null) {
      model = services.fleets().onlyModel();
    }
    if (model == null) {
      if (endpoint != Endpoint.OTHER) {
        throw new InvalidBodyException("model", "model must name one of the served models");
      }
      model = "";
    }
    String salt = body.cacheSalt();
    if (salt != null && hasLoneSurrogate(salt)) {
      throw new InvalidBodyException("cache_salt", "cache_salt must be well-formed Unicode");
    }
    Inbound inbound = new Inbound(
        tally.id(),
        endpoint,
        exchange.method(),
        exchange.target(),
        headers,
        body,
        model,
        services.fleets().isAdapter(model),
        ConversationId.of(headers, body),
        Urgency.of(headers),
        services.settings().explain() || "true".equalsIgnoreCase(headers.get(EXPLAIN)));
    inbound.client(exchange.remote());
    return inbound;
  }

  private static boolean hasLoneSurrogate(String text) {
    return text.codePoints()
        .anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
  }

  private @Nullable Target owner(Inbound inbound) {
    String previous = inbound.body() == null ? null : inbound.body().previousResponseId();
    return previous == null ? null : owners.get(previous);
  }

  // ---- requests without a body, or with one that is not read ----------------------------------

  private void storedResponse(Exchange exchange, String path, Tally tally) {
    String rest = path.substring(RESPONSES.length());
    int slash = rest.indexOf('/');
    String responseId = slash < 0 ? rest : rest.substring(0, slash);
    Target owner = owners.get(responseId);
    if (owner == null) {
      refuse(
          exchange,
          Endpoint.RESPONSES,
          tally,
          Problem.notFound(
              "response_not_found",
              "response_id",
              "no worker is known to hold the response '" + Errors.shown(responseId) + "'"));
      return;
    }
    forward(exchange, Endpoint.OTHER, tally, owner);
  }

  private void streamed(Exchange exchange, Tally tally) {
    forward(exchange, Endpoint.OTHER, tally, null);
  }

  private void forward(Exchange exchange, Endpoint endpoint, Tally tally, @Nullable Target owner) {
    Headers headers = exchange.headers();
    Inbound inbound =
        new Inbound(
            tally.id(),
            endpoint,
            exchange.method(),
            exchange.target(),
            headers,
            null,
            "",
            false,
            null,
            Urgency.NONE,
            services.settings().explain() || "true".equalsIgnoreCase(headers.get(EXPLAIN)));
    run(exchange, inbound, null, owner, tally, () -> {}).start();
  }

  private ProxyRun run(
      Exchange exchange,
      Inbound inbound,
      @Nullable ModelFleet fleet,
      @Nullable Target owner,
      Tally tally,
      Runnable release) {
    List<FleetWorker> workers = fleet == null ? services.fleets().workers() : fleet.workers();
    ProxyRun run =
        new ProxyRun(
            exchange,
            inbound,
            new Placing(
                exchange.loop(),
                inbound,
                fleet,
                workers,
                owner,
                services.tokens(),
                tally.arrivedNs()),
            services,
            owners,
            tally,
            release,
            runs::remove);
    runs.add(run);
    return run;
  }

  private void refuse(
      Exchange exchange, @Nullable Endpoint endpoint, Tally tally, Problem problem) {
    LOG.debug("{}: {} {}", tally, problem.status(), problem.message());
    services.metrics().onRefused(problem.code());
    tally.onError(problem.message());
    Replies.problem(exchange, endpoint, tally.id(), problem, new Headers());
    tally.close(problem.status());
  }
}
