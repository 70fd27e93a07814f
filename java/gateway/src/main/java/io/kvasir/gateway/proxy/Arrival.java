package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.Exchange;
import io.kvasir.exchange.Headers;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.InvalidBodyException;
import io.kvasir.gateway.openai.NamedConversation;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleet.Target;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.model.Errors;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One request for an engine, from its head to its {@link ProxyRun}: reads its body or the beginning
 * of it, and finds its model.
 *
 * <p>Confined to the exchange's event loop.
 */
final class Arrival {

  private static final Logger LOG = LoggerFactory.getLogger(Arrival.class);
  private static final String EXPLAIN = ForwardedHeaders.KVASIR_PREFIX + "explain";

  private final Shared shared;
  private final Services services;
  private final Exchange exchange;
  private final Endpoint endpoint;
  private final RequestHead head;
  private final Tally tally;

  /** The target that holds the stored response that the request names; null for none. */
  private @Nullable Target owner;

  /**
   * What all requests of a handler share. Thread-safe.
   *
   * @param services the gateway's parts
   * @param answers the gateway's own answers
   * @param owners the targets that hold stored responses
   * @param runs the requests in progress whose body has arrived
   * @param reading the number of requests whose body arrives
   */
  record Shared(
      Services services,
      OwnAnswers answers,
      ResponseOwners owners,
      Set<ProxyRun> runs,
      AtomicInteger reading) {}

  /** Begins with a request whose body is unread. */
  Arrival(Shared shared, Exchange exchange, Endpoint endpoint, RequestHead head, Tally tally) {
    this.shared = shared;
    this.services = shared.services();
    this.exchange = exchange;
    this.endpoint = endpoint;
    this.head = head;
    this.tally = tally;
  }

  /**
   * Serves the request.
   *
   * @param path its path, without the query
   */
  void serve(String path) {
    StoredObject stored = StoredObject.of(path);
    if (stored == null || !(stored.isResponse() || hasSeveralWorkers())) {
      serveBody();
    } else if (stored.isPost(exchange.method(), path)) {
      refuse(stored.noSuchPath());
    } else {
      owner = shared.owners().get(stored.id());
      if (owner != null) {
        serveBody();
      } else if (admitted(null)) {
        search(stored, () -> {}, found -> onSearched(stored, found));
      }
    }
  }

  /** Whether a stored object may be at another worker; one worker's ranks differ in responses. */
  private boolean hasSeveralWorkers() {
    return services.fleets().workers().size() > 1;
  }

  private void serveBody() {
    boolean hasBody = BodyKinds.hasBody(exchange.headers());
    ContentCodings codings;
    try {
      codings = hasBody ? ContentCodings.taken(exchange.headers()) : ContentCodings.NONE;
    } catch (ContentCodings.UnsupportedException e) {
      refuse(Problem.of(415, Problem.UNSUPPORTED_CODING, Errors.reason(e)));
      return;
    }
    if (endpoint != Endpoint.OTHER || (hasBody && BodyKinds.isJson(exchange.headers()))) {
      read(codings);
    } else if (hasBody && !codings.isNone()) {
      readCoded(codings);
    } else if (hasBody) {
      new UploadArrival(shared, exchange, head, this).start(FormModel.of(head, shared.answers()));
    } else {
      forward(HeldBody.none(), null);
    }
  }

  /** Asks the workers which of them keeps an object, and notes it as the owner. */
  private void search(StoredObject stored, Runnable onGone, Consumer<OwnerSearch.Result> then) {
    new OwnerQuestion(shared, exchange, head.headers())
        .ask(
            stored,
            () -> {
              onGone.run();
              clientGone();
            },
            found -> {
              FleetWorker holder = found.holder();
              owner = holder == null ? null : new Target(holder, ModelFleet.ANY_RANK);
              try {
                then.accept(found);
              } catch (RuntimeException e) {
                LOG.error("a request failed in the gateway itself", e);
                onGone.run();
                refuse(Problem.internal());
              }
            });
  }

  private void onSearched(StoredObject stored, OwnerSearch.Result found) {
    if (found.holder() != null) {
      serveBody();
    } else if (services.fleets().silent() > 0) {
      refuse(shared.answers().notStarted());
    } else if (!found.complete()) {
      refuse(Refusals.notAllAsked(stored.id()));
    } else if (stored.isResponse() && !found.refused()) {
      refuse(stored.notFound());
    } else {
      serveBody(); // the engine's own answer
    }
  }

  private void read(ContentCodings codings) {
    tally.trace().step("body");
    shared.reading().incrementAndGet();
    BodyIntake.start(
        exchange,
        services,
        codings,
        this::scan,
        new BodyReading<Scanned>(this, shared.reading()) {
          @Override
          HeldBody held(Scanned read, BodyHold hold) {
            return HeldBody.scanned(read.scan(), hold);
          }

          @Override
          void onBody(Scanned read, HeldBody body) throws InvalidBodyException {
            onJson(read, body);
          }
        });
  }

  /**
   * A body and the stored object that it names.
   *
   * @param scan the body
   * @param stored the object; null if there is none
   */
  private record Scanned(BodyScan scan, @Nullable StoredObject stored) {}

  /** Scans a body, on any thread. */
  private Scanned scan(byte[] bytes) throws InvalidBodyException {
    BodyScan scan = BodyScan.of(bytes, 0, bytes.length);
    return new Scanned(scan, StoredObject.of(endpoint, scan, hasSeveralWorkers()));
  }

  /** Reads a coded body that is no JSON: engines receive it decoded. */
  private void readCoded(ContentCodings codings) {
    FormModel model = FormModel.of(head, shared.answers());
    shared.reading().incrementAndGet();
    BodyIntake.start(
        exchange,
        services,
        codings,
        bytes -> {
          if (model != null) {
            model.feed(Unpooled.wrappedBuffer(bytes));
            model.end();
          }
          return bytes;
        },
        new BodyReading<byte[]>(this, shared.reading()) {
          @Override
          HeldBody held(byte[] bytes, BodyHold hold) {
            return HeldBody.opaque(bytes, hold);
          }

          @Override
          void onBody(byte[] bytes, HeldBody body) {
            Problem wrong = FormModel.problem(Unpooled.wrappedBuffer(bytes), model);
            if (wrong != null) {
              body.release();
              refuse(wrong);
            } else {
              forward(body, model == null ? null : model.value());
            }
          }
        });
  }

  /** The client is gone before its request was forwarded. */
  void clientGone() {
    tally.onError("the client went away");
    tally.close(Problem.CLIENT_GONE);
  }

  private void onJson(Scanned read, HeldBody body) throws InvalidBodyException {
    ModelFleets fleets = services.fleets();
    if (endpoint != Endpoint.OTHER && fleets.models().isEmpty() && fleets.silent() > 0) {
      body.release();
      refuse(shared.answers().notStarted());
      return;
    }
    Inbound inbound = inbound(read.scan(), body);
    inbound.client(exchange.remote());
    if (services.transfers().passes(head.headers())) {
      inbound.passTransfer();
    }
    tally.model(inbound.model());
    tally.targets(inbound.urgency().targets(), inbound.streams());
    ModelFleet fleet = fleet(inbound.model(), read.scan().adapter());
    if (fleet == null && !(endpoint == Endpoint.OTHER && inbound.model().isEmpty())) {
      body.release();
      refuse(shared.answers().unknownModel(inbound.model(), head.key()));
      return;
    }
    StoredObject named = owner == null ? read.stored() : null;
    owner = named == null ? owner : shared.owners().get(named.id());
    boolean asks = endpoint == Endpoint.RESPONSES || (named != null && !named.isResponse());
    if (named != null && owner == null && asks && hasSeveralWorkers()) {
      if (!admitted(read.scan())) {
        body.release();
        return;
      }
      search(
          named,
          inbound::releaseBody,
          found -> {
            boolean asked = found.complete() && fleets.silent() == 0;
            if (found.holder() != null || asked || !named.isResponse()) {
              run(inbound, fleet);
            } else {
              inbound.releaseBody();
              refuse(Refusals.notAllAsked(named.id()));
            }
          });
    } else {
      run(inbound, fleet);
    }
  }

  /** The workers of a model; null if there are none, or the client may not use it. */
  private @Nullable ModelFleet fleet(String model, @Nullable String adapter) {
    boolean allowed = head.allows(model) && (adapter == null || head.allows(adapter));
    return allowed ? services.fleets().fleet(model) : null;
  }

  private Inbound inbound(BodyScan scan, HeldBody body) throws InvalidBodyException {
    Headers headers = head.headers();
    String model = NamedModel.served(head, scan, services.fleets());
    if (model == null) {
      if (endpoint != Endpoint.OTHER) {
        throw new InvalidBodyException("model", "model must name one of the served models");
      }
      model = "";
    }
    String salt = scan.cacheSalt();
    if (salt != null && BodyScan.hasLoneSurrogate(salt)) {
      throw new InvalidBodyException("cache_salt", "cache_salt must be well-formed Unicode");
    }
    return new Inbound(
        tally.id(),
        endpoint,
        head,
        body,
        model,
        services.fleets().isAdapter(model),
        NamedConversation.of(headers, scan),
        Urgency.of(headers, head.key()),
        explains(headers));
  }

  private boolean explains(Headers headers) {
    return services.settings().explain() || "true".equalsIgnoreCase(headers.get(EXPLAIN));
  }

  /**
   * Forwards a request without a prompt.
   *
   * @param inBody the model that the body names; null for none
   */
  void forward(HeldBody body, @Nullable String inBody) {
    String named = NamedModel.orNull(inBody);
    String model = named == null ? NamedModel.of(head) : named;
    ModelFleet fleet = model == null ? null : fleet(model, null);
    tally.model(model == null ? "" : model);
    if (model != null && fleet == null) {
      body.release();
      refuse(shared.answers().unknownModel(model, head.key()));
      return;
    }
    Inbound inbound =
        new Inbound(
            tally.id(),
            Endpoint.OTHER,
            head,
            body,
            model == null ? "" : model,
            false,
            NamedConversation.NONE,
            Urgency.NONE,
            explains(head.headers()));
    run(inbound, fleet);
  }

  private void run(Inbound inbound, @Nullable ModelFleet fleet) {
    if (fleet != null && Splitting.isImpossible(inbound, fleet)) {
      inbound.releaseBody();
      refuse(Refusals.notApart(inbound.endpoint().path()));
      return;
    }
    List<FleetWorker> workers = fleet == null ? unnamed() : fleet.workers();
    if (owner != null && head.isLimited() && !serves(owner.worker())) {
      inbound.releaseBody();
      refuse(Refusals.notForKey());
      return;
    }
    if (!admitted(inbound.body())) {
      inbound.releaseBody();
      return;
    }
    Placing placing =
        new Placing(
            exchange.loop(),
            inbound,
            Leg.WHOLE,
            fleet,
            workers,
            owner,
            services,
            tally.arrivedNs());
    ProxyRun run =
        new ProxyRun(
            exchange, inbound, placing, services, shared.owners(), tally, shared.runs()::remove);
    ModelFleet prefills = owner == null ? Splitting.prefills(services, inbound, fleet) : null;
    if (fleet != null && prefills != null) {
      run.split(placing.prefills(prefills, fleet));
    }
    shared.runs().add(run);
    inbound.trace(tally.trace());
    tally.trace().step("admission");
    run.start();
  }

  /** Whether the limits of the client's key admit the request; otherwise it is refused. */
  private boolean admitted(@Nullable BodyScan body) {
    KeyAccount account = tally.account();
    Problem over = account == null ? null : account.admit(exchange, endpoint, body);
    if (over != null) {
      refuse(over);
    }
    return over == null;
  }

  /** The workers of requests that name no model: those with a model that the client may use. */
  private List<FleetWorker> unnamed() {
    List<FleetWorker> workers = services.fleets().answering();
    return head.isLimited() ? workers.stream().filter(this::serves).toList() : workers;
  }

  private boolean serves(FleetWorker worker) {
    return worker.models().stream().anyMatch(head::allows);
  }

  /** Answers the request with an error. */
  void refuse(Problem problem) {
    services.refuse(exchange, endpoint, tally, problem);
  }
}
