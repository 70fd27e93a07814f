package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.gateway.keys.KeyUse;
import io.kvasir.model.Errors;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
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

  private static final int OK = 200;

  private final Services services;
  private final OwnAnswers answers;
  private final Arrival.Shared shared;
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
    this.answers = new OwnAnswers(services.fleets(), this::ready);
    this.shared = new Arrival.Shared(services, answers, new ResponseOwners(), runs, reading);
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
    if (services.settings().origins().answers(exchange)) {
      return;
    }
    RequestTarget target = RequestTarget.of(exchange.target());
    String path = target == null ? "" : target.path();
    Probe probe = Probe.of(path);
    if (probe != null) {
      answers.probe(exchange, probe);
      return;
    }
    Endpoint endpoint = Endpoint.of(path, services.settings().passPaths());
    String id = RequestIds.of(exchange.headers().get(ForwardedHeaders.REQUEST_ID));
    Tally tally = new Tally(id, exchange, endpoint, services);
    exchange.onOver(tally::abandon); // whatever fails, the request ends with its exchange
    KeyUse key = services.keys().take(exchange.headers());
    if (key == null && !services.keys().isOpen()) {
      services.refuse(exchange, endpoint, tally, KeyGate.unknownKey());
      return;
    }
    if (key != null) {
      tally.account(new KeyAccount(key, services));
    }
    serve(exchange, target, endpoint, tally, key);
  }

  private void serve(
      Exchange exchange,
      @Nullable RequestTarget target,
      @Nullable Endpoint endpoint,
      Tally tally,
      @Nullable KeyUse key) {
    String path = target == null ? "" : target.path();
    KeyAccount account = tally.account();
    if (draining) {
      services.refuse(exchange, endpoint, tally, Refusals.shuttingDown());
    } else if (asksForWebSocket(exchange.headers())) {
      services.refuse(exchange, endpoint, tally, Refusals.webSocket());
    } else if (target == null || endpoint == null) {
      services.refuse(exchange, null, tally, target == null ? oddTarget() : noPath(path));
    } else if (ModelsJson.serves(path)) {
      Problem problem = answers.models(exchange, path, key);
      if (problem == null) {
        tally.close(OK);
      } else {
        services.refuse(exchange, Endpoint.OTHER, tally, problem);
      }
    } else if (endpoint != Endpoint.OTHER && !exchange.method().equals("POST")) {
      services.refuse(exchange, endpoint, tally, Refusals.wrongMethod("POST"));
    } else {
      RequestHead head =
          new RequestHead(
              exchange.method(), target.text(), exchange.headers(), exchange.client(), key);
      Problem limit = account == null ? null : account.early(exchange, endpoint);
      Problem wrong = limit == null ? NamedModel.problem(head, answers) : limit;
      if (wrong != null) {
        services.refuse(exchange, endpoint, tally, wrong);
        return;
      }
      new Arrival(shared, exchange, endpoint, head, tally).serve(path);
    }
  }

  private static boolean asksForWebSocket(Headers headers) {
    return headers.get("upgrade") != null
        && headers.all("upgrade").stream()
            .flatMap(value -> Stream.of(value.split(",", -1)))
            .anyMatch(protocol -> protocol.strip().equalsIgnoreCase("websocket"));
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
            : path.equals("/metrics")
                ? "; metrics are on the admin port"
                : "; --pass-paths lets further paths of engines pass";
    return Problem.notFound("not_found", null, "no such path: " + Errors.shown(path) + reason);
  }
}
