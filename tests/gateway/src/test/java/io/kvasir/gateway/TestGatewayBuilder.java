package io.kvasir.gateway;

import io.kvasir.exchange.http.HttpFront;
import io.kvasir.exchange.http.TlsFiles;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.whatif.VirtualFleet;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.observe.TrafficRecording;
import io.kvasir.gateway.proxy.ClientLimits;
import io.kvasir.gateway.proxy.CrossOrigin;
import io.kvasir.gateway.proxy.PassPaths;
import io.kvasir.gateway.proxy.ProxySettings;
import io.kvasir.gateway.route.BreakerSettings;
import io.kvasir.gateway.route.Shares;
import io.kvasir.gateway.tokens.ModelTokens;
import io.kvasir.gateway.worker.ApiKey;
import io.kvasir.gateway.worker.DnsWorkers;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.testing.harness.Await;
import io.opentelemetry.api.OpenTelemetry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/** Settings of a gateway under test. Limits are far away unless a test sets them. */
final class TestGatewayBuilder {

  private final List<String> workers;
  private List<LocalWorker> local = List.of();
  private Map<String, ModelTokens> models = Map.of();
  private String router = "conversation";
  private Map<String, Object> routerArgs = Map.of();
  private List<FleetRouterProvider> shadows = List.of();
  private VirtualFleet shadowFleet;
  private OpenTelemetry telemetry = OpenTelemetry.noop();
  private int port;
  private int eventLoops = 2;
  private long maxBodyBytes = 8 << 20;
  private long bodyTimeoutMs = Await.limitMs();
  private long queueTimeoutMs = Await.limitMs();
  private long firstByteTimeoutMs = Await.limitMs();
  private long firstTokenTimeoutMs = Await.limitMs();
  private long idleTimeoutMs = Await.limitMs();
  private long clientTimeoutMs = Await.limitMs();
  private long tokensTimeoutMs = Await.limitMs();
  private int maxAttempts = 3;
  private boolean explain = true;
  private int maxRunning = 1000;
  private int maxQueued = 1000;
  private long bodyBudget = 64 << 20;
  private int retryReserve = 100;
  private GatewaySettings.Replicas replicas;
  private long drainMs = 5_000;
  private long drainGraceMs;
  private long intervalMs = 60_000;
  private CrossOrigin origins = CrossOrigin.ALL;
  private List<String> passPaths = List.of();
  private ClientLimits clients = new ClientLimits(1, 100_000, 600_000, 1);
  private TlsFiles tls;
  private TlsFiles adminTls;
  private ApiKey adminKey;
  private GatewaySettings.Keys keys;
  private List<String> adminAllowedHosts = List.of("x"); // that of RawClient
  private long healthTimeoutMs = Await.limitMs();
  private int healthFailures = 2;
  private BreakerSettings breaker = BreakerSettings.of(1000, 60_000);
  private DisaggSettings disagg = DisaggSettings.DEFAULTS;
  private TrafficRecording recording = TrafficRecording.NONE;

  TestGatewayBuilder(List<String> workers) {
    this.workers = workers;
  }

  TestGatewayBuilder router(String name) {
    router = name;
    return this;
  }

  TestGatewayBuilder routerArgs(Map<String, Object> args) {
    routerArgs = args;
    return this;
  }

  TestGatewayBuilder local(List<LocalWorker> localWorkers) {
    local = localWorkers;
    return this;
  }

  TestGatewayBuilder port(int number) {
    port = number;
    return this;
  }

  TestGatewayBuilder eventLoops(int loops) {
    eventLoops = loops;
    return this;
  }

  TestGatewayBuilder maxBodyBytes(long bytes) {
    maxBodyBytes = bytes;
    return this;
  }

  TestGatewayBuilder bodyBudget(long bytes) {
    bodyBudget = bytes;
    return this;
  }

  TestGatewayBuilder bodyTimeoutMs(long ms) {
    bodyTimeoutMs = ms;
    return this;
  }

  TestGatewayBuilder queue(int running, int queued) {
    return queue(running, queued, Await.limitMs());
  }

  TestGatewayBuilder queue(int running, int queued, long timeoutMs) {
    maxRunning = running;
    maxQueued = queued;
    queueTimeoutMs = timeoutMs;
    return this;
  }

  TestGatewayBuilder firstTokenTimeoutMs(long ms) {
    firstTokenTimeoutMs = ms;
    return this;
  }

  TestGatewayBuilder firstByteTimeoutMs(long ms) {
    firstByteTimeoutMs = ms;
    return this;
  }

  TestGatewayBuilder idleTimeoutMs(long ms) {
    idleTimeoutMs = ms;
    return this;
  }

  TestGatewayBuilder clientTimeoutMs(long ms) {
    clientTimeoutMs = ms;
    return this;
  }

  /** Limits how long the tokens of a prompt are looked for. */
  TestGatewayBuilder tokensTimeoutMs(long ms) {
    tokensTimeoutMs = ms;
    return this;
  }

  TestGatewayBuilder maxAttempts(int attempts) {
    maxAttempts = attempts;
    return this;
  }

  TestGatewayBuilder noExplanation() {
    explain = false;
    return this;
  }

  TestGatewayBuilder retryReserve(int retries) {
    retryReserve = retries;
    return this;
  }

  /** Exchanges loads with other gateways. */
  TestGatewayBuilder replicas(String endpoint, List<String> peers) {
    replicas = new GatewaySettings.Replicas(endpoint, peers);
    return this;
  }

  TestGatewayBuilder clients(ClientLimits limits) {
    clients = limits;
    return this;
  }

  TestGatewayBuilder origins(CrossOrigin policy) {
    origins = policy;
    return this;
  }

  TestGatewayBuilder passPaths(String... paths) {
    passPaths = List.of(paths);
    return this;
  }

  TestGatewayBuilder adminAllowedHosts(String... names) {
    adminAllowedHosts = new ArrayList<>(List.of(names));
    adminAllowedHosts.add("x");
    return this;
  }

  TestGatewayBuilder drainMs(long ms) {
    drainMs = ms;
    return this;
  }

  TestGatewayBuilder drainGraceMs(long ms) {
    drainGraceMs = ms;
    return this;
  }

  TestGatewayBuilder healthEveryMs(long ms) {
    intervalMs = ms;
    return this;
  }

  TestGatewayBuilder healthTimeoutMs(long ms) {
    healthTimeoutMs = ms;
    return this;
  }

  TestGatewayBuilder healthFailures(int failures) {
    healthFailures = failures;
    return this;
  }

  TestGatewayBuilder breaker(int failures, long openMs) {
    return breaker(BreakerSettings.of(failures, openMs));
  }

  TestGatewayBuilder breaker(BreakerSettings settings) {
    breaker = settings;
    return this;
  }

  /** How requests are split between workers of role prefill and decode. */
  TestGatewayBuilder disagg(DisaggSettings settings) {
    disagg = settings;
    return this;
  }

  /** Records to what the caller closes. */
  TestGatewayBuilder recording(TrafficRecording to) {
    recording = to;
    return this;
  }

  /** Makes the tokens of a model in this process. */
  TestGatewayBuilder tokens(String model, ModelTokens tokens) {
    models = Map.of(model, tokens);
    return this;
  }

  /** Serves the public port with TLS. */
  TestGatewayBuilder tls(TlsFiles files) {
    tls = files;
    return this;
  }

  /** Serves the admin port with TLS. */
  TestGatewayBuilder adminTls(TlsFiles files) {
    adminTls = files;
    return this;
  }

  /** Lets requests with this key change the workers. */
  TestGatewayBuilder adminKey(String key) {
    adminKey = ApiKey.of("key", key);
    return this;
  }

  /** Serves only clients with a key of a file. */
  TestGatewayBuilder keys(Path file, boolean forwardsAuthorization) {
    keys = new GatewaySettings.Keys(file, forwardsAuthorization);
    return this;
  }

  /** Asks other fleet routers where they would place the same requests. */
  TestGatewayBuilder shadows(String... routers) {
    shadows = Stream.of(routers).map(FleetRouterKind::named).toList();
    return this;
  }

  /** Lets them place on virtual ranks that are not those of the workers. */
  TestGatewayBuilder shadowFleet(VirtualFleet fleet) {
    shadowFleet = fleet;
    return this;
  }

  /** Receives the spans of requests. */
  TestGatewayBuilder telemetry(OpenTelemetry to) {
    telemetry = to;
    return this;
  }

  TestGateway start() {
    GatewaySettings settings =
        new GatewaySettings(
            new HttpFront.Address("127.0.0.1", port, tls),
            new GatewaySettings.Admin("127.0.0.1", 0, adminAllowedHosts, adminKey, adminTls),
            eventLoops,
            workers.stream()
                .filter(text -> !DnsWorkers.isMeant(text))
                .map(WorkerSpec::parse)
                .toList(),
            workers.stream()
                .filter(DnsWorkers::isMeant)
                .map(text -> DnsWorkers.parse(text, null))
                .toList(),
            router,
            routerArgs,
            shadows,
            shadowFleet,
            replicas,
            new ProxySettings(
                maxBodyBytes,
                bodyTimeoutMs,
                queueTimeoutMs,
                firstByteTimeoutMs,
                firstTokenTimeoutMs,
                idleTimeoutMs,
                clientTimeoutMs,
                maxAttempts,
                new Shares(0),
                explain,
                clients,
                origins,
                new PassPaths(passPaths)),
            new GatewaySettings.Pressure(
                maxRunning, maxQueued, bodyBudget, retryReserve, drainMs, drainGraceMs),
            new GatewaySettings.Health(
                Await.limitMs(), intervalMs, healthTimeoutMs, healthFailures, intervalMs, breaker),
            disagg,
            keys);
    BlockingQueue<String> lines = new LinkedBlockingQueue<>();
    try {
      AtomicLong clockNs = new AtomicLong(System.nanoTime());
      Gateway.Times times = new Gateway.Times(clockNs::get, tokensTimeoutMs);
      Gateway gateway =
          Gateway.start(
              settings,
              local,
              models,
              new GatewayOutputs(new TestGateway.Lines(lines), recording, telemetry),
              times);
      return new TestGateway(gateway, lines, clockNs);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
