package io.kvasir.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.kvasir.exchange.http.HttpFront;
import io.kvasir.exchange.http.TlsFiles;
import io.kvasir.gateway.RawClient.Reply;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.observe.TrafficRecording;
import io.kvasir.gateway.proxy.ClientLimits;
import io.kvasir.gateway.proxy.CrossOrigin;
import io.kvasir.gateway.proxy.PassPaths;
import io.kvasir.gateway.proxy.ProxySettings;
import io.kvasir.gateway.route.BreakerSettings;
import io.kvasir.gateway.tokens.ModelTokens;
import io.kvasir.gateway.worker.ApiKey;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.testing.harness.Await;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A gateway in front of scripted engines, its access log and its metrics. The time by which workers
 * rest and connections count as stale passes only by {@link #pass}.
 */
final class TestGateway implements AutoCloseable {

  static final String CHAT = "/v1/chat/completions";
  static final String ASK =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";
  static final String ASK_STREAM =
      "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Gateway gateway;
  private final BlockingQueue<String> lines;
  private final AtomicLong clockNs;

  private TestGateway(Gateway gateway, BlockingQueue<String> lines, AtomicLong clockNs) {
    this.gateway = gateway;
    this.lines = lines;
    this.clockNs = clockNs;
  }

  /** Settings of a gateway under test. Limits are far away unless a test sets them. */
  static final class Builder {

    private final List<String> workers;
    private List<LocalWorker> local = List.of();
    private Map<String, ModelTokens> models = Map.of();
    private String router = "conversation";
    private Map<String, Object> routerArgs = Map.of();
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
    private ApiKey adminKey;
    private GatewaySettings.Keys keys;
    private List<String> adminAllowedHosts = List.of("x"); // that of RawClient
    private long healthTimeoutMs = Await.limitMs();
    private int healthFailures = 2;
    private BreakerSettings breaker = BreakerSettings.of(1000, 60_000);
    private DisaggSettings disagg = DisaggSettings.DEFAULTS;
    private TrafficRecording recording = TrafficRecording.NONE;

    private Builder(List<String> workers) {
      this.workers = workers;
    }

    Builder router(String name) {
      router = name;
      return this;
    }

    Builder routerArgs(Map<String, Object> args) {
      routerArgs = args;
      return this;
    }

    Builder local(List<LocalWorker> localWorkers) {
      local = localWorkers;
      return this;
    }

    Builder port(int number) {
      port = number;
      return this;
    }

    Builder eventLoops(int loops) {
      eventLoops = loops;
      return this;
    }

    Builder maxBodyBytes(long bytes) {
      maxBodyBytes = bytes;
      return this;
    }

    Builder bodyBudget(long bytes) {
      bodyBudget = bytes;
      return this;
    }

    Builder bodyTimeoutMs(long ms) {
      bodyTimeoutMs = ms;
      return this;
    }

    Builder queue(int running, int queued) {
      return queue(running, queued, Await.limitMs());
    }

    Builder queue(int running, int queued, long timeoutMs) {
      maxRunning = running;
      maxQueued = queued;
      queueTimeoutMs = timeoutMs;
      return this;
    }

    Builder firstTokenTimeoutMs(long ms) {
      firstTokenTimeoutMs = ms;
      return this;
    }

    Builder firstByteTimeoutMs(long ms) {
      firstByteTimeoutMs = ms;
      return this;
    }

    Builder idleTimeoutMs(long ms) {
      idleTimeoutMs = ms;
      return this;
    }

    Builder clientTimeoutMs(long ms) {
      clientTimeoutMs = ms;
      return this;
    }

    /** Limits how long the tokens of a prompt are looked for. */
    Builder tokensTimeoutMs(long ms) {
      tokensTimeoutMs = ms;
      return this;
    }

    Builder maxAttempts(int attempts) {
      maxAttempts = attempts;
      return this;
    }

    Builder noExplanation() {
      explain = false;
      return this;
    }

    Builder retryReserve(int retries) {
      retryReserve = retries;
      return this;
    }

    /** Exchanges loads with other gateways. */
    Builder replicas(String endpoint, List<String> peers) {
      replicas = new GatewaySettings.Replicas(endpoint, peers);
      return this;
    }

    Builder clients(ClientLimits limits) {
      clients = limits;
      return this;
    }

    Builder origins(CrossOrigin policy) {
      origins = policy;
      return this;
    }

    Builder passPaths(String... paths) {
      passPaths = List.of(paths);
      return this;
    }

    Builder adminAllowedHosts(String... names) {
      adminAllowedHosts = new ArrayList<>(List.of(names));
      adminAllowedHosts.add("x");
      return this;
    }

    Builder drainMs(long ms) {
      drainMs = ms;
      return this;
    }

    Builder drainGraceMs(long ms) {
      drainGraceMs = ms;
      return this;
    }

    Builder healthEveryMs(long ms) {
      intervalMs = ms;
      return this;
    }

    Builder healthTimeoutMs(long ms) {
      healthTimeoutMs = ms;
      return this;
    }

    Builder healthFailures(int failures) {
      healthFailures = failures;
      return this;
    }

    Builder breaker(int failures, long openMs) {
      return breaker(BreakerSettings.of(failures, openMs));
    }

    Builder breaker(BreakerSettings settings) {
      breaker = settings;
      return this;
    }

    /** How requests are split between workers of role prefill and decode. */
    Builder disagg(DisaggSettings settings) {
      disagg = settings;
      return this;
    }

    /** Records to what the caller closes. */
    Builder recording(TrafficRecording to) {
      recording = to;
      return this;
    }

    /** Makes the tokens of a model in this process. */
    Builder tokens(String model, ModelTokens tokens) {
      models = Map.of(model, tokens);
      return this;
    }

    /** Serves the public port with TLS. */
    Builder tls(TlsFiles files) {
      tls = files;
      return this;
    }

    /** Lets requests with this key change the workers. */
    Builder adminKey(String key) {
      adminKey = ApiKey.of("key", key);
      return this;
    }

    /** Serves only clients with a key of a file. */
    Builder keys(Path file, boolean forwardsAuthorization) {
      keys = new GatewaySettings.Keys(file, forwardsAuthorization);
      return this;
    }

    TestGateway start() {
      GatewaySettings settings =
          new GatewaySettings(
              new HttpFront.Address("127.0.0.1", port, tls),
              new GatewaySettings.Admin("127.0.0.1", 0, adminAllowedHosts, adminKey),
              eventLoops,
              workers.stream().map(WorkerSpec::parse).toList(),
              router,
              routerArgs,
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
                  explain,
                  clients,
                  origins,
                  new PassPaths(passPaths)),
              new GatewaySettings.Pressure(
                  maxRunning, maxQueued, bodyBudget, retryReserve, drainMs, drainGraceMs),
              new GatewaySettings.Health(
                  Await.limitMs(), intervalMs, healthTimeoutMs, healthFailures, breaker),
              disagg,
              keys);
      BlockingQueue<String> lines = new LinkedBlockingQueue<>();
      try {
        AtomicLong clockNs = new AtomicLong(System.nanoTime());
        Gateway.Times times = new Gateway.Times(clockNs::get, tokensTimeoutMs);
        Gateway gateway =
            Gateway.start(settings, local, models, new Lines(lines), recording, times);
        return new TestGateway(gateway, lines, clockNs);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Begins a gateway in front of engines without ranks. */
  static Builder of(ScriptedEngine... engines) {
    return of(Arrays.stream(engines).map(engine -> "http://" + engine.name()).toList());
  }

  /** Begins a gateway in front of workers, each as {@code --worker} describes it. */
  static Builder of(List<String> workers) {
    return new Builder(workers);
  }

  Gateway gateway() {
    return gateway;
  }

  RawClient client() {
    return RawClient.to(gateway.port());
  }

  /** Sends one request on a new connection and reads its reply. */
  Reply post(String path, String body, String... fields) {
    try (RawClient client = client()) {
      return client.send(RawClient.post(path, body, fields)).reply();
    }
  }

  Reply get(String path, String... fields) {
    return get(gateway.port(), path, fields);
  }

  private static Reply get(int port, String path, String... fields) {
    String more = fields.length == 0 ? "" : String.join("\r\n", fields) + "\r\n";
    try (RawClient client = RawClient.to(port)) {
      return client.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n" + more + "\r\n").reply();
    }
  }

  /** Checks that an ordinary request succeeds. */
  void works() {
    Reply reply = post(CHAT, ASK);
    assertThat(reply.status()).as(reply.text()).isEqualTo(200);
    assertThat(reply.text()).contains("Hello you");
  }

  /** Lets time pass for workers that rest and for connections. */
  void pass(long ms) {
    clockNs.addAndGet(TimeUnit.MILLISECONDS.toNanos(ms));
  }

  /** The next line of the access log; waits for it. */
  JsonNode logLine() {
    try {
      return JSON.readTree(Await.next("a line of the access log", lines));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Lines of the access log that were not read yet. */
  int logLines() {
    return lines.size();
  }

  String metrics() {
    return admin("/metrics").text();
  }

  Reply admin(String path) {
    return get(gateway.adminPort(), path);
  }

  /** Changes workers with a key; the body may use single quotes. */
  Reply change(String method, String path, String body, String key) {
    byte[] bytes = body.replace('\'', '"').getBytes(StandardCharsets.UTF_8);
    try (RawClient client = RawClient.to(gateway.adminPort())) {
      String field = "Authorization: Bearer " + key;
      return client.send(RawClient.request(method, "/kvasir/workers" + path, bytes, field)).reply();
    }
  }

  /** The sum of all samples of a metric with these labels, each as {@code name="value"}. */
  double metric(String name, String... labels) {
    return metrics()
        .lines()
        .filter(line -> line.startsWith(name + "{") || line.startsWith(name + " "))
        .filter(line -> Arrays.stream(labels).allMatch(line::contains))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }

  @Override
  public void close() {
    gateway.close();
  }

  /** Splits what is written into lines. */
  private static final class Lines extends OutputStream {

    private final BlockingQueue<String> lines;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();

    Lines(BlockingQueue<String> lines) {
      this.lines = lines;
    }

    @Override
    public void write(int value) {
      if (value == '\n') {
        lines.add(line.toString(StandardCharsets.UTF_8));
        line.reset();
      } else {
        line.write(value);
      }
    }
  }
}
