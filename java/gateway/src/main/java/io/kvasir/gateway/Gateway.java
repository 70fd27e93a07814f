package io.kvasir.gateway;

import io.kvasir.exchange.EventLoop;
import io.kvasir.exchange.http.ConnectionLimit;
import io.kvasir.exchange.http.HttpFront;
import io.kvasir.gateway.admin.AdminHandler;
import io.kvasir.gateway.admin.AdminHosts;
import io.kvasir.gateway.admin.WorkersHandler;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.gateway.disagg.Transfers;
import io.kvasir.gateway.events.EventPump;
import io.kvasir.gateway.events.ReplicaLink;
import io.kvasir.gateway.keys.KeyRing;
import io.kvasir.gateway.observe.AccessLog;
import io.kvasir.gateway.observe.GatewayMetrics;
import io.kvasir.gateway.observe.RecordedDecisions;
import io.kvasir.gateway.openai.OpenAiError;
import io.kvasir.gateway.proxy.BodyThreads;
import io.kvasir.gateway.proxy.GatewayHandler;
import io.kvasir.gateway.proxy.KeyGate;
import io.kvasir.gateway.proxy.Services;
import io.kvasir.gateway.route.Ejection;
import io.kvasir.gateway.route.HealthChecks;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.gateway.route.RetryBudget;
import io.kvasir.gateway.tokens.ModelTokens;
import io.kvasir.gateway.tokens.TokenQuestions;
import io.kvasir.gateway.worker.DnsWorkers;
import io.kvasir.gateway.worker.WorkerSpec;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A running gateway: its servers, workers and routers.
 *
 * <p>Thread-safe. Owns its threads.
 */
public final class Gateway implements AutoCloseable {

  /** A fifth of the time after which a router gives up an attempt without a sign of life. */
  private static final long ALIVE_MS = 60_000;

  private static final long TOKENS_CACHE_BYTES = 64 << 20;

  private final GatewaySettings settings;
  private final Vertx vertx;
  private final EventLoop loop;
  private final EventPump pump;
  private final @Nullable ReplicaLink replicas;
  private final @Nullable KeyRing keys;
  private final Transfers transfers;
  private final ModelFleets fleets;
  private final HealthChecks health;
  private final Reloads reloads = new Reloads();
  private final FleetThread fleetThread = new FleetThread();
  private final FleetDirector director;
  private final DnsDiscovery discovery;
  private final GatewayHandler handler;
  private final Drain drain;
  private final AccessLog log;
  private final BodyThreads threads = BodyThreads.ofMachine();
  private final ConnectionLimit connections;
  private final HttpFront admin;
  private final AtomicBoolean closed = new AtomicBoolean();

  /** The public port; null before the first checks are over. */
  private volatile @Nullable HttpFront front;

  /**
   * Times that are no settings.
   *
   * @param clockNs the time by which workers rest and connections count as stale, in nanoseconds
   * @param tokensTimeoutMs limit for finding the tokens of a prompt, in milliseconds
   */
  record Times(LongSupplier clockNs, long tokensTimeoutMs) {

    static final Times REAL = new Times(System::nanoTime, 2_000);
  }

  private Gateway(
      GatewaySettings settings,
      List<LocalWorker> local,
      Map<String, ModelTokens> models,
      Vertx vertx,
      EventPump pump,
      @Nullable ReplicaLink replicas,
      AccessLog log,
      GatewayOutputs outputs,
      Times times)
      throws IOException {
    this.settings = settings;
    this.vertx = vertx;
    this.pump = pump;
    this.replicas = replicas;
    this.log = log;
    this.loop = HttpFront.loop(vertx);
    FleetAssembly assembly = new FleetAssembly(settings, pump, replicas, outputs.recording(), loop);
    WorkerConnections ways = new WorkerConnections(settings.health(), vertx, times.clockNs());
    this.discovery =
        new DnsDiscovery(new DnsLookup(DnsLookup.OF_THE_MACHINE), settings.health().lookupMs());
    WantedFleet wanted =
        discovery.use(settings.dnsWorkers(), names -> WantedFleet.of(settings.workers(), names));
    this.fleets =
        new ModelFleets(
            ways.open(local, wanted.workers().values()),
            new Ejection(settings.health().breaker()),
            assembly::fleet);
    GatewaySettings.Keys keyed = settings.keys();
    this.keys = keyed == null ? null : new KeyRing(keyed.file(), times.clockNs());
    GatewayMetrics metrics = new GatewayMetrics();
    GatewaySettings.Pressure pressure = settings.pressure();
    this.connections = settings.connectionLimit();
    this.transfers = ways.transfers(settings.disagg());
    Services services =
        new Services(
            fleets,
            keyed == null ? KeyGate.OPEN : new KeyGate(keys, keyed.forwardsAuthorization()),
            new TokenQuestions(
                times.tokensTimeoutMs(), TOKENS_CACHE_BYTES, models, times.clockNs()),
            transfers,
            settings.proxy(),
            settings.admissionQueue(loop),
            new RetryBudget(pressure.retryReserve()),
            settings.bodyBudget(),
            threads,
            metrics,
            log,
            new RecordedDecisions(),
            outputs.recording(),
            outputs.telemetry().getTracer("io.kvasir.gateway"),
            times.clockNs());
    this.handler = new GatewayHandler(services);
    GatewayGauges gauges = new GatewayGauges(metrics);
    gauges
        .ofRequests(services, connections, handler::queuedByRouters)
        .ofReplicas(replicas)
        .ofDiscovery(discovery)
        .ofReloads(reloads);
    this.health =
        new HealthChecks(
            fleets,
            loop,
            settings.health().intervalMs(),
            settings.health().timeoutMs(),
            settings.health().failures());
    FleetChanges changes =
        new FleetChanges(
            fleets,
            ways,
            health,
            transfers,
            metrics,
            worker -> gauges.ofWorker(worker, fleets, times.clockNs()),
            fleetThread,
            pressure.drainMs(),
            replicas != null);
    gauges.ofChanges(changes);
    this.director = new FleetDirector(wanted, changes);
    this.drain = new Drain(handler, changes::activeRequests, this::leave, pressure.drainMs());
    this.admin =
        HttpFront.listen(
            vertx,
            settings.admin().address(),
            1,
            ConnectionLimit.none(),
            OpenAiError::invalidHttp,
            new AdminHandler(
                services,
                () -> front != null && handler.ready(),
                new AdminHosts(settings.admin().names()),
                new WorkersHandler(services, director, fleetThread, settings.admin().key())));
  }

  /**
   * Starts a gateway: waits until each worker has been checked once, or for the time of that, and
   * then opens the public port.
   *
   * @param settings how it runs
   * @param local workers of this process, besides those of the settings; closed with the gateway,
   *     also if it does not start
   * @param models what makes tokens in this process, by model; not closed with the gateway
   * @param outputs what it writes to; not closed with the gateway
   * @return the gateway
   * @throws IllegalArgumentException if the fleet router is unknown, does not fit the workers, or
   *     its settings are wrong
   * @throws IOException if a port cannot be opened
   */
  public static Gateway start(
      GatewaySettings settings,
      List<LocalWorker> local,
      Map<String, ModelTokens> models,
      GatewayOutputs outputs)
      throws IOException {
    return start(settings, local, models, outputs, Times.REAL);
  }

  /** The same with other times. */
  static Gateway start(
      GatewaySettings settings,
      List<LocalWorker> local,
      Map<String, ModelTokens> models,
      GatewayOutputs outputs,
      Times times)
      throws IOException {
    for (boolean publishes : new boolean[] {false, true}) { // wrong args are refused before a start
      for (RouterChoice choice : settings.choices()) {
        FleetAssembly.tryOut(choice.policy(publishes), choice.args());
      }
    }
    Vertx vertx = HttpFront.eventLoops(settings.eventLoops());
    AccessLog log = new AccessLog(outputs.accessLog());
    EventPump pump = new EventPump();
    ReplicaLink replicas = null;
    Gateway gateway;
    try {
      GatewaySettings.Replicas peers = settings.replicas();
      replicas = peers == null ? null : new ReplicaLink(pump, peers.endpoint(), peers.peers());
      gateway = new Gateway(settings, local, models, vertx, pump, replicas, log, outputs, times);
    } catch (IOException | RuntimeException e) {
      vertx.close();
      if (replicas != null) {
        replicas.close();
      }
      pump.close();
      log.close();
      local.forEach(worker -> worker.upstream().close());
      throw e;
    }
    try {
      gateway.check();
      gateway.open();
      return gateway;
    } catch (InterruptedException e) {
      gateway.close();
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the gateway started", e);
    } catch (IOException | RuntimeException e) {
      gateway.close();
      throw e;
    }
  }

  /** Starts the checks, and waits until each worker has had one, or for the time of that. */
  private void check() throws InterruptedException {
    CountDownLatch checked = new CountDownLatch(1);
    health.start(checked::countDown);
    planAlive();
    discovery.start(director::onListed);
    checked.await(3 * settings.health().timeoutMs() + 1_000, TimeUnit.MILLISECONDS);
  }

  /** Opens the public port. */
  private void open() throws IOException {
    front =
        HttpFront.listen(
            vertx,
            settings.address(),
            settings.eventLoops(),
            connections,
            OpenAiError::invalidHttp,
            handler);
  }

  private void leave() {
    HttpFront open = front;
    if (open != null) {
      open.leave();
    }
  }

  private void planAlive() {
    loop.after(
        ALIVE_MS,
        () -> {
          if (!closed.get()) {
            reportAlive();
            planAlive();
          }
        });
  }

  /** Reports to the routers which attempts are in flight. */
  void reportAlive() {
    handler.onAlive();
  }

  /** {@return where clients reach it, as it is set} */
  public HttpFront.Address address() {
    return settings.address();
  }

  /** {@return the public port} */
  public int port() {
    return Objects.requireNonNull(front, "the gateway has not started").port();
  }

  /** {@return the admin port} */
  public int adminPort() {
    return admin.port();
  }

  /**
   * Reads the certificates and keys of both ports again, for new connections.
   *
   * @throws IOException if some are wrong; both ports keep those that they have
   */
  public void reloadTls() throws IOException {
    HttpFront open = front;
    Runnable ofClients = open == null ? () -> {} : open.readTls();
    Runnable ofAdmin = admin.readTls();
    ofClients.run();
    ofAdmin.run();
  }

  /** {@return the API keys of clients; null if none is needed} */
  public @Nullable KeyRing keys() {
    return keys;
  }

  /**
   * Makes the engines behind HTTP those of two lists. Workers that are in them as they are stay;
   * the requests of others end where they are.
   *
   * @param workers what a start would take
   * @param dnsWorkers the same for those that DNS lists
   * @return what has changed, in words
   * @throws IllegalArgumentException if other gateways count on the same workers
   */
  public String replaceWorkers(List<WorkerSpec> workers, List<DnsWorkers> dnsWorkers) {
    return discovery.use(dnsWorkers, listed -> director.onSettings(workers, listed));
  }

  /** {@return counts how often the settings are read again} */
  public Reloads reloads() {
    return reloads;
  }

  /** {@return the workers by model} */
  public ModelFleets fleets() {
    return fleets;
  }

  /**
   * Stops: is not ready for a while, in which it still serves requests and closes their
   * connections; then refuses new requests, lets those in progress go on for a while, and ends the
   * rest.
   *
   * @return requests that were ended before their reply was complete
   */
  public int stop() {
    long graceMs = settings.pressure().drainGraceMs();
    return stop(graceMs > 0 ? () -> Thread.sleep(graceMs) : null);
  }

  /** The same with another grace; null for none. */
  int stop(Drain.@Nullable Grace grace) {
    try {
      return drain.run(closed.get() ? null : grace);
    } finally {
      close();
    }
  }

  /** Closes everything at once; requests in progress lose their connections. Idempotent. */
  @Override
  public void close() {
    if (closed.getAndSet(true)) {
      return;
    }
    discovery.close();
    health.close();
    fleetThread.close();
    HttpFront open = front;
    if (open != null) {
      open.close();
    }
    admin.close();
    threads.close();
    transfers.close();
    fleets.workers().forEach(worker -> worker.upstream().close());
    director.coming().forEach(worker -> worker.upstream().close());
    director.leaving().forEach(worker -> worker.upstream().close());
    if (replicas != null) {
      replicas.close();
    }
    pump.close();
    fleets.close();
    vertx.close().toCompletionStage().toCompletableFuture().join();
    log.close();
  }
}
