package io.kvasir.cli.option;

import io.kvasir.exchange.http.HttpFront;
import io.kvasir.exchange.http.TlsFiles;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.whatif.VirtualFleet;
import io.kvasir.gateway.GatewaySettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.gateway.proxy.PassPaths;
import io.kvasir.gateway.worker.ApiKey;
import io.kvasir.gateway.worker.DnsWorkers;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.model.Errors;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of a gateway. */
@Heading(Heading.GATEWAY)
public final class ServeOptions extends DeclaredOptions {

  /** The option that names a worker. */
  public static final String WORKER = "--worker";

  /** All options that name workers. */
  public static final List<String> WORKERS =
      List.of(WORKER, ServeDisagg.PREFILL, ServeDisagg.DECODE);

  private static final String CERTIFICATE = "--ssl-certfile";
  private static final String KEY_FILE = "--ssl-keyfile";
  private static final String ADMIN_CERTIFICATE = "--admin-ssl-certfile";
  private static final String ADMIN_KEY_FILE = "--admin-ssl-keyfile";
  private static final String ADMIN_CLIENTS = "--admin-ssl-ca-certs";
  private static final String ADMIN_KEY = "--admin-key-file";
  private static final String PASS_PATHS = "--pass-paths";
  private static final String UPSTREAM = "--upstream";
  private static final String SHADOW = "--shadow";
  private static final String SHADOW_RANKS = "--shadow-ranks";
  private static final String SHADOW_POOL_TOKENS = "--shadow-pool-tokens";
  private static final String REPLICA_SYNC = "--router-replica-sync";
  private static final String REPLICA_PEERS = "--router-replica-peers";
  private static final RouterOption ROUTER =
      new RouterOption(FleetOptions.ROUTER, FleetOptions.ARGS);

  /** Reads no prompts: there is one place to go. */
  private static final String UPSTREAM_ROUTER = "round_robin";

  private static final int MAX_PORT = 65_535;
  private static final Pattern ENDPOINT =
      Pattern.compile("tcp://(\\*|\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+):(\\d{1,5})");

  private final Declared<String> host =
      text("--host", "ADDRESS", "0.0.0.0").help(10, "Address of the public port");

  private final Declared<Integer> port =
      integer("--port", "8080", 0, MAX_PORT).help(11, "The public port; 0 takes a free one");

  private final Declared<Path> certificate =
      path(CERTIFICATE)
          .in(Block.TLS)
          .help(
              11,
              "Serve the public port with TLS 1.2 and 1.3, and HTTP/2: the certificate in PEM, and"
                  + " behind it those that vouch for it (default: without TLS).");

  private final Declared<Path> privateKey =
      path(KEY_FILE)
          .in(Block.TLS)
          .help(11, "The private key of --ssl-certfile in PEM, without a password.");

  private final Declared<String> adminHost =
      text("--admin-host", "ADDRESS", "127.0.0.1")
          .in(Block.ADMIN)
          .help(12, "Address of the admin port");

  private final Declared<Integer> adminPort =
      integer("--admin-port", "8081", 0, MAX_PORT)
          .in(Block.ADMIN)
          .help(13, "Port of metrics and health; 0 takes a free one");

  private final Declared<Path> adminCertificate =
      path(ADMIN_CERTIFICATE)
          .in(Block.ADMIN)
          .help(
              13,
              "Serve the admin port with TLS too: its certificate in PEM (default: without TLS).");

  private final Declared<Path> adminPrivateKey =
      path(ADMIN_KEY_FILE)
          .in(Block.ADMIN)
          .help(13, "The private key of --admin-ssl-certfile in PEM, without a password.");

  private final Declared<Path> adminClients =
      path(ADMIN_CLIENTS)
          .in(Block.ADMIN)
          .help(
              13,
              "Serve only clients of the admin port with a certificate that one of these authorities,"
                  + " in PEM, has signed (default: no certificate is needed).");

  private final Declared<ApiKey> adminKey =
      option(ADMIN_KEY, "FILE", null, ServeOptions::readKey)
          .in(Block.ADMIN)
          .help(
              13,
              "Has the key by which operators change workers at the admin port (default: they"
                  + " cannot).");

  @Option(
      names = WORKER,
      paramLabel = "URL[,KEY=VALUE]...",
      hideParamSyntax = true,
      split = "\\s+",
      order = 14,
      description =
          "An engine behind HTTP; may be repeated; dns+http://NAME:PORT and dnssrv+http://NAME are"
              + " the engines that DNS lists. Keys: flavor (vllm, sglang or trtllm; default"
              + " vllm), ranks, events, replay, topic, bind, block_size, lb, weight, rank_offset,"
              + " ranks_per_node, poll, forward_pass_metrics, renderer, api_key_file,"
              + " api_key_env, api_key, ca, insecure, the last five with renderer_ before them,"
              + " role. Without a worker, embedded ranks answer.")
  @Heading(value = Heading.GATEWAY, block = Block.WORKERS)
  private List<String> workers = new ArrayList<>();

  private final Declared<String> router =
      text(FleetOptions.ROUTER, "NAME", GatewaySettings.AUTO)
          .candidates(Choices.GatewayRouters.class)
          .in(Block.ROUTERS)
          .help(
              15,
              "Router among the workers: ${COMPLETION-CANDIDATES}; auto is projected"
                  + " where block events are followed, else affinity");

  private final Declared<String> routerArgs =
      text(FleetOptions.ARGS, "KEY=VALUE[,KEY=VALUE]", "")
          .in(Block.ROUTERS)
          .help(16, "Args of the fleet router, for example max_sessions=1000 (default: none).");

  private final Declared<List<FleetRouterProvider>> shadows =
      option(SHADOW, "NAME[,NAME]", null, text -> FleetOptions.others(SHADOW, text))
          .candidates(Choices.FleetRouters.class)
          .in(Block.ROUTERS)
          .help(
              16,
              "Fleet routers that are asked where they would place the same requests; metrics have"
                  + " their hits on virtual ranks (default: none).");

  private final Declared<Integer> shadowRanks =
      integer(SHADOW_RANKS, "0", 0, VirtualFleet.MAX_RANKS)
          .in(Block.ROUTERS)
          .help(
              16,
              "Virtual ranks of each router of --shadow, each a worker of its own; 0: those of the"
                  + " workers");

  private final Declared<Integer> shadowPoolTokens =
      integer(SHADOW_POOL_TOKENS, "0", 0, Integer.MAX_VALUE)
          .in(Block.ROUTERS)
          .help(16, "Tokens of KV in the pool of each rank of --shadow-ranks; 0: unknown");

  private final Declared<String> upstream =
      text(UPSTREAM, "URL[,KEY=VALUE]", null)
          .in(Block.ROUTERS)
          .help(
              16,
              "A balancer in front of the engines, which gets all requests: the routers of --shadow"
                  + " only say what they would find on --shadow-ranks (default: none).");

  private final Declared<String> replicaSync =
      option(REPLICA_SYNC, "tcp://HOST:PORT", null, text -> endpoint(REPLICA_SYNC, text))
          .in(Block.ROUTERS)
          .help(
              16,
              "Publish here what this gateway places, for other gateways in front of"
                  + " the same workers (default: nothing).");

  private final Declared<List<String>> replicaPeers =
      list(REPLICA_PEERS, "ENDPOINT[,ENDPOINT]", null, text -> endpoint(REPLICA_PEERS, text))
          .in(Block.ROUTERS)
          .help(16, "Where the other gateways publish; listing its own endpoint is harmless.");

  private final Declared<List<String>> passPaths =
      list(PASS_PATHS, "PATH[,PATH]", null, ServeOptions::passPath)
          .help(
              16,
              "Paths of engines outside the API that pass to a worker, with all below them, for"
                  + " example /custom (default: none).");

  private final Declared<Integer> eventLoops =
      integer("--event-loops", null, 1, 256)
          .help(17, "Threads that serve requests (default: one per core, at most 8).");

  private final Declared<Boolean> explain =
      flag("--explain-headers", "false")
          .candidates(Choices.Booleans.class)
          .in(Block.OBSERVABILITY)
          .help(
              36,
              "Name worker, rank, match and reason in every reply's headers (default:"
                  + " ${DEFAULT-VALUE}); a request can ask with x-kvasir-explain: true.");

  @Mixin private ServeDisagg disagg;
  @Mixin private ServeLimits limits;
  @Mixin private ServeKeys keys;
  @Mixin private ServeClients clients;
  @Mixin private ServeOrigins origins;

  ServeOptions() {}

  /**
   * {@return how the gateway runs}
   *
   * @param sources the sources of values
   * @throws UsageException if a value is not allowed
   */
  public GatewaySettings settings(Settings sources) {
    RouterChoice choice = ROUTER.read(router.value(), routerArgs.text());
    List<WorkerSpec> specs = workers();
    if (upstream.isGiven()) {
      specs.addAll(upstream(specs, choice));
      choice = new RouterChoice(UPSTREAM_ROUTER, Map.of());
    }
    List<DnsWorkers> dnsWorkers = new ArrayList<>(ServeDisagg.dnsWorkers(WORKER, workers, null));
    dnsWorkers.addAll(disagg.dnsWorkers());
    List<WorkerSpec> all = new ArrayList<>(specs);
    dnsWorkers.forEach(each -> all.add(each.example()));
    disagg.check(all, sources::isFlag);
    int loops = Math.min(Runtime.getRuntime().availableProcessors(), 8);
    return new GatewaySettings(
        new HttpFront.Address(host.value(), port.value(), tls()),
        new GatewaySettings.Admin(
            adminHost.value(), adminPort.value(), clients.adminNames(), adminKey(), adminTls()),
        eventLoops.orElse(loops),
        specs,
        dnsWorkers,
        choice.name(),
        choice.args(),
        shadows.orElse(List.of()),
        shadowFleet(),
        replicas(specs, dnsWorkers),
        limits.proxy(
            explain.value(),
            clients.limits(),
            origins.policy(),
            new PassPaths(passPaths.orElse(List.of()))),
        limits.pressure(),
        limits.health(),
        disagg.settings(choice, sources.authKey()),
        keys.keys());
  }

  /** The balancer as a worker. */
  private List<WorkerSpec> upstream(List<WorkerSpec> others, RouterChoice choice) {
    if (!others.isEmpty() || !workers.isEmpty()) {
      throw new UsageException(UPSTREAM, "and " + WORKER + " exclude each other");
    }
    if (!choice.name().equals(RouterChoice.AUTO)) {
      throw new UsageException(UPSTREAM, "and " + FleetOptions.ROUTER + " exclude each other");
    }
    if (shadowRanks.value() == 0) {
      throw new UsageException(UPSTREAM, "needs " + SHADOW_RANKS);
    }
    return ServeDisagg.specs(UPSTREAM, List.of(upstream.value() + ",ranks=1"), null);
  }

  private @Nullable VirtualFleet shadowFleet() {
    if (shadowRanks.value() == 0) {
      if (shadowPoolTokens.value() > 0) {
        throw new UsageException(SHADOW_POOL_TOKENS, "needs " + SHADOW_RANKS);
      }
      return null;
    }
    if (!shadows.isGiven()) {
      throw new UsageException(SHADOW_RANKS, "needs " + SHADOW);
    }
    return new VirtualFleet(shadowRanks.value(), shadowPoolTokens.value());
  }

  private GatewaySettings.@Nullable Replicas replicas(
      List<WorkerSpec> specs, List<DnsWorkers> dnsWorkers) {
    if (!replicaSync.isGiven() && !replicaPeers.isGiven()) {
      return null;
    }
    if (!replicaSync.isGiven() || !replicaPeers.isGiven()) {
      String given = !replicaSync.isGiven() ? REPLICA_PEERS : REPLICA_SYNC;
      throw new UsageException(
          given, "needs " + (!replicaSync.isGiven() ? REPLICA_SYNC : REPLICA_PEERS));
    }
    if (!dnsWorkers.isEmpty()) {
      throw new UsageException(
          REPLICA_SYNC,
          "excludes " + dnsWorkers.get(0) + ": all gateways must have the same workers");
    }
    if (specs.isEmpty()) {
      throw new UsageException(
          REPLICA_SYNC, "needs " + WORKER + ": no other gateway can be in front of embedded ranks");
    }
    if (disagg.sharesAnswers()) {
      throw new UsageException(
          ServeDisagg.BOTH_WAYS,
          "excludes " + REPLICA_SYNC + ": no gateway sees what others answer in a conversation");
    }
    return new GatewaySettings.Replicas(replicaSync.value(), replicaPeers.value());
  }

  private @Nullable ApiKey adminKey() {
    return adminKey.isGiven() ? adminKey.value() : null;
  }

  private static ApiKey readKey(String file) {
    try {
      return ApiKey.ofFile("its file", file.strip());
    } catch (IllegalArgumentException e) {
      throw new UsageException(ADMIN_KEY, "is wrong: " + Errors.reason(e));
    }
  }

  private @Nullable TlsFiles tls() {
    return tls(CERTIFICATE, certificate, KEY_FILE, privateKey, null);
  }

  private @Nullable TlsFiles adminTls() {
    if (adminClients.isGiven() && !adminCertificate.isGiven()) {
      throw new UsageException(ADMIN_CLIENTS, "needs " + ADMIN_CERTIFICATE);
    }
    return tls(
        ADMIN_CERTIFICATE,
        adminCertificate,
        ADMIN_KEY_FILE,
        adminPrivateKey,
        adminClients.isGiven() ? adminClients.value() : null);
  }

  private static @Nullable TlsFiles tls(
      String certificateName,
      Declared<Path> certificate,
      String keyName,
      Declared<Path> key,
      @Nullable Path clients) {
    if (!certificate.isGiven() && !key.isGiven()) {
      return null;
    }
    if (!certificate.isGiven()) {
      throw new UsageException(keyName, "needs " + certificateName);
    }
    if (!key.isGiven()) {
      throw new UsageException(certificateName, "needs " + keyName);
    }
    return new TlsFiles(certificate.value(), key.value(), clients);
  }

  private static String endpoint(String option, String text) {
    Matcher matcher = ENDPOINT.matcher(text.strip());
    if (!matcher.matches()
        || Integer.parseInt(matcher.group(2)) < 1
        || Integer.parseInt(matcher.group(2)) > MAX_PORT) {
      throw new UsageException(
          option,
          "must be tcp://HOST:PORT with a port from 1 to "
              + MAX_PORT
              + ", not '"
              + Errors.shown(text)
              + "'");
    }
    return text.strip();
  }

  private static String passPath(String text) {
    try {
      return PassPaths.path(text.strip());
    } catch (IllegalArgumentException e) {
      throw new UsageException(PASS_PATHS, Errors.reason(e));
    }
  }

  private List<WorkerSpec> workers() {
    List<WorkerSpec> specs = new ArrayList<>(ServeDisagg.specs(WORKER, workers, null));
    specs.addAll(disagg.workers());
    if (specs.stream().map(WorkerSpec::name).distinct().count() < specs.size()) {
      throw new UsageException(WORKER, "must name each engine once");
    }
    return specs;
  }
}
