package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.ConversationId;
import io.kvasir.gateway.openai.InvalidBodyException;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleet.Target;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.model.Errors;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
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
  private static final String EXPLAIN = ForwardedHeaders.KVASIR_PREFIX + "explain";

  private final Services services;
  private final ResponseOwners owners = new ResponseOwners();
  private final Set<ProxyRun> runs = ConcurrentHashMap.newKeySet();
  private final AtomicInteger reading = new AtomicInteger();
  private volatile boolean leaving;
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

  /** {@return requests that wait in the queue of a fleet router} */
  public long queuedByRouters() {
    return runs.stream().filter(ProxyRun::queuedByRouter).count();
  }

  /** {@return whether balancers may send requests: a worker is healthy, and the gateway stays} */
  public boolean ready() {
    return !leaving && services.fleets().ready();
  }

  /** Is not ready from now on, so that balancers send no more requests; serves those that come. */
  public void leave() {
    leaving = true;
  }

  /** Refuses new requests from now on. */
  public void drain() {
    leaving = true;
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
    RequestTarget target = RequestTarget.of(exchange.target());
    String path = target == null ? "" : target.path();
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
    } else if (target == null || endpoint == null) {
      refuse(exchange, null, tally, target == null ? oddTarget() : noPath(path));
    } else if (ModelsJson.serves(path)) {
      models(exchange, path, tally);
    } else if (endpoint != Endpoint.OTHER && !exchange.method().equals("POST")) {
      refuse(exchange, endpoint, tally, wrongMethod("POST"));
    } else {
      RequestHead head =
          new RequestHead(exchange.method(), target.text(), exchange.headers(), exchange.client());
      serve(exchange, endpoint, head, path, tally);
    }
  }

  private void serve(
      Exchange exchange, Endpoint endpoint, RequestHead head, String path, Tally tally) {
    Target owner = null;
    if (path.startsWith(RESPONSES)) {
      owner = owner(exchange, path, tally);
      if (owner == null) {
        return;
      }
    }
    boolean hasBody = BodyKinds.hasBody(exchange.headers());
    if (endpoint != Endpoint.OTHER || (hasBody && BodyKinds.isJson(exchange.headers()))) {
      read(exchange, endpoint, head, tally, owner);
    } else if (hasBody) {
      stream(exchange, head, tally, owner);
    } else {
      forward(exchange, head, HeldBody.none(), tally, owner);
    }
  }

  private static Problem oddTarget() {
    return Problem.invalid(
        null,
        "the path must have one meaning: it must not have a backslash, a semicolon or a number"
            + " sign, nor escapes of them, of a slash or of control characters");
  }

  private static Problem noPath(String path) {
    String reason =
        Endpoint.isAdministrative(path)
            ? "; it changes one engine: send it to each engine itself"
            : path.equals("/metrics") ? "; metrics are on the admin port" : "";
    return Problem.notFound("not_found", null, "no such path: " + Errors.shown(path) + reason);
  }

  private static Problem wrongMethod(String right) {
    return Problem.of(405, "method_not_allowed", "the method must be " + right);
  }

  private void health(Exchange exchange, boolean ready) {
    boolean good = !ready || ready();
    Replies.json(
        exchange, good ? 200 : 503, good ? "{\"status\":\"ok\"}" : "{\"status\":\"not ready\"}");
  }

  private void models(Exchange exchange, String path, Tally tally) {
    if (!exchange.method().equals("GET") && !exchange.method().equals("HEAD")) {
      refuse(exchange, Endpoint.OTHER, tally, wrongMethod("GET"));
      return;
    }
    Set<String> models = services.fleets().models();
    String name = ModelsJson.name(path);
    if (models.isEmpty() && services.fleets().silent() > 0) {
      refuse(exchange, Endpoint.OTHER, tally, notStarted());
      return;
    }
    if (name != null && !models.contains(name)) {
      refuse(exchange, Endpoint.OTHER, tally, unknownModel(name));
      return;
    }
    Replies.json(exchange, 200, name == null ? ModelsJson.list(models) : ModelsJson.model(name));
    tally.close(200);
  }

  /** The reply about a model that no worker has named; a silent worker may serve it. */
  private Problem unknownModel(String model) {
    return services.fleets().silent() > 0 ? notStarted() : neverServed(model);
  }

  private Problem notStarted() {
    return Refusals.noWorker(
        "no worker is known to serve the model; workers that have not answered yet: "
            + services.fleets().silent()
            + Refusals.reasons(services.fleets().workers()));
  }

  private Problem neverServed(String model) {
    return Problem.notFound(
        "model_not_found",
        "model",
        "no worker serves the model '"
            + Errors.shown(model)
            + "'; known: "
            + Errors.shown(String.join(", ", services.fleets().models())));
  }

  // ---- requests whose body is read ----------------------------------------------------------

  private void read(
      Exchange exchange, Endpoint endpoint, RequestHead head, Tally tally, @Nullable Target owner) {
    reading.incrementAndGet();
    BodyIntake.start(
        exchange,
        services,
        new BodyIntake.Receiver() {
          @Override
          public void onScanned(BodyScan scan, BodyHold hold) {
            HeldBody body = HeldBody.scanned(scan, hold);
            try {
              onBody(exchange, endpoint, head, tally, scan, body, owner);
            } catch (InvalidBodyException e) {
              body.release();
              refuse(exchange, endpoint, tally, Problem.invalid(e.param(), e.reason()));
            } catch (RuntimeException e) {
              LOG.error("a request failed in the gateway itself", e);
              body.release();
              refuse(exchange, endpoint, tally, Problem.internal());
            } finally {
              reading.decrementAndGet();
            }
          }

          @Override
          public void onProblem(Problem problem) {
            refuse(exchange, endpoint, tally, problem);
            reading.decrementAndGet();
          }

          @Override
          public void onGone() {
            clientGone(tally);
            reading.decrementAndGet();
          }
        });
  }

  private static void clientGone(Tally tally) {
    tally.onError("the client went away");
    tally.close(Problem.CLIENT_GONE);
  }

  private void onBody(
      Exchange exchange,
      Endpoint endpoint,
      RequestHead head,
      Tally tally,
      BodyScan scan,
      HeldBody body,
      @Nullable Target holder)
      throws InvalidBodyException {
    ModelFleets fleets = services.fleets();
    if (endpoint != Endpoint.OTHER && fleets.models().isEmpty() && fleets.silent() > 0) {
      body.release();
      refuse(exchange, endpoint, tally, notStarted());
      return;
    }
    Inbound inbound = inbound(endpoint, head, tally, scan, body);
    inbound.client(exchange.remote());
    tally.model(inbound.model());
    tally.targets(inbound.urgency().targets(), inbound.streams());
    ModelFleet fleet = fleets.fleet(inbound.model());
    if (fleet == null && !(endpoint == Endpoint.OTHER && inbound.model().isEmpty())) {
      body.release();
      refuse(exchange, endpoint, tally, unknownModel(inbound.model()));
      return;
    }
    Target owner = holder != null ? holder : owner(scan);
    run(exchange, inbound, fleet, owner, tally).start();
  }

  private Inbound inbound(
      Endpoint endpoint, RequestHead head, Tally tally, BodyScan scan, HeldBody body)
      throws InvalidBodyException {
    Headers headers = head.headers();
    String model = scan.model();
    if (model == null) {
      model = services.fleets().onlyModel();
    }
    if (model == null) {
      if (endpoint != Endpoint.OTHER) {
        throw new InvalidBodyException("model", "model must name one of the served models");
      }
      model = "";
    }
    String salt = scan.cacheSalt();
    if (salt != null && hasLoneSurrogate(salt)) {
      throw new InvalidBodyException("cache_salt", "cache_salt must be well-formed Unicode");
    }
    return new Inbound(
        tally.id(),
        endpoint,
        head,
        body,
        model,
        services.fleets().isAdapter(model),
        ConversationId.of(headers, scan),
        Urgency.of(headers),
        explains(headers));
  }

  private boolean explains(Headers headers) {
    return services.settings().explain() || "true".equalsIgnoreCase(headers.get(EXPLAIN));
  }

  private static boolean hasLoneSurrogate(String text) {
    return text.codePoints()
        .anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
  }

  private @Nullable Target owner(BodyScan body) {
    String previous = body.previousResponseId();
    return previous == null ? null : owners.get(previous);
  }

  // ---- requests without a body, or with one that is not read ----------------------------------

  /** The target that holds a stored response; null, and the request refused, if none does. */
  private @Nullable Target owner(Exchange exchange, String path, Tally tally) {
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
    }
    return owner;
  }

  /** Serves a request whose body passes unread, once its beginning is here. */
  private void stream(Exchange exchange, RequestHead head, Tally tally, @Nullable Target owner) {
    BodyHold hold = services.bodies().open(head.client());
    AtomicBoolean waits = new AtomicBoolean(true);
    UploadStart upload =
        new UploadStart(
            exchange,
            hold,
            services.settings().bodyTimeoutMs(),
            ready -> {
              try {
                forward(exchange, head, HeldBody.unread(ready, hold), tally, owner);
              } finally {
                endReading(waits);
              }
            },
            problem -> {
              refuse(exchange, Endpoint.OTHER, tally, problem);
              endReading(waits);
            });
    reading.incrementAndGet();
    exchange.onGone(
        () -> {
          if (waits.get()) {
            upload.stop();
            clientGone(tally);
            endReading(waits);
          }
        });
    upload.start();
  }

  private void endReading(AtomicBoolean waits) {
    if (waits.getAndSet(false)) {
      reading.decrementAndGet();
    }
  }

  private void forward(
      Exchange exchange, RequestHead head, HeldBody body, Tally tally, @Nullable Target owner) {
    Inbound inbound =
        new Inbound(
            tally.id(),
            Endpoint.OTHER,
            head,
            body,
            "",
            false,
            null,
            Urgency.NONE,
            explains(head.headers()));
    run(exchange, inbound, null, owner, tally).start();
  }

  private ProxyRun run(
      Exchange exchange,
      Inbound inbound,
      @Nullable ModelFleet fleet,
      @Nullable Target owner,
      Tally tally) {
    List<FleetWorker> workers = fleet == null ? services.fleets().workers() : fleet.workers();
    ProxyRun run =
        new ProxyRun(
            exchange,
            inbound,
            new Placing(
                exchange.loop(), inbound, fleet, workers, owner, services, tally.arrivedNs()),
            services,
            owners,
            tally,
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
