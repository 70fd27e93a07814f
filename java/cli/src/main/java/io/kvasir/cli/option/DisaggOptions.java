package io.kvasir.cli.option;

import io.kvasir.embedded.disagg.EngineRole;
import io.kvasir.embedded.disagg.KvConnector;
import io.kvasir.embedded.disagg.RoleSettings;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.engine.pool.KvShape;
import io.kvasir.exchange.EngineFlavor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Options of an engine that answers requests together with other engines. */
@Heading("Prefill and decode apart")
public final class DisaggOptions extends DeclaredOptions {

  private static final String ROLE = "--role";
  private static final String CONNECTOR = "--kv-connector";
  private static final String BANDWIDTH = "--transfer-bandwidth";
  private static final String LEASE = "--lease-seconds";
  private static final String TIMEOUT = "--transfer-timeout-seconds";
  private static final String POLICY = "--kv-load-failure-policy";
  private static final String BOTH_WAYS = "--bidirectional-kv-xfer";
  private static final String ANSWER_TTL = "--decoder-kv-blocks-ttl";
  private static final String ENGINE_ID = "--kv-engine-id";
  private static final String BOOTSTRAP_PORT = "--bootstrap-port";
  private static final String SIDE_PORT = "--side-channel-port";
  private static final String AUTH_KEY = "--internal-request-auth-key-file";
  private static final double MIN_BANDWIDTH = 1e-6;
  private static final double MAX_BANDWIDTH = 1e6;
  private static final double BYTES_PER_GB = 1e9;

  enum Policy {
    FAIL,
    RECOMPUTE
  }

  private final Declared<EngineRole> role =
      option(ROLE, "NAME", null, DisaggOptions::role)
          .candidates(Choices.EngineRoles.class)
          .help(
              29,
              "Part of the engine in requests that two engines answer: prefill or context, decode or"
                  + " generation, both (default: it answers alone).");

  private final Declared<KvConnector> connector =
      option(CONNECTOR, "NAME", null, DisaggOptions::connector)
          .candidates(Choices.KvConnectors.class)
          .help(
              30,
              "How KV moves between engines of vllm: nixl, nixl_push, mooncake, or vLLM's name"
                  + " of the connector (default: nixl).");

  private final Declared<Double> bandwidth =
      number(BANDWIDTH, "50", MIN_BANDWIDTH, MAX_BANDWIDTH)
          .help(
              31,
              "GB/s at which KV moves, after a millisecond (default: ${DEFAULT-VALUE}). Without the"
                  + " KV options below, a token has 70272 bytes of KV.");

  private final Declared<Long> lease =
      seconds(LEASE, "30").help(32, "How long unfetched blocks of nixl stay pinned");

  private final Declared<Long> timeout =
      seconds(TIMEOUT, null)
          .help(33, "How long a leg waits for the other one (default: 480 of vllm, else 300).");

  private final Declared<Policy> policy =
      choice(POLICY, "fail", Policy.class)
          .candidates(Choices.LoadFailurePolicies.class)
          .help(34, "Treatment of requests whose KV does not arrive: fail, recompute");

  private final Declared<Boolean> bothWays =
      flag(BOTH_WAYS, "false")
          .candidates(Choices.Booleans.class)
          .help(35, "nixl: prefill may fetch the KV of answers from decode");

  private final Declared<Long> answerTtl =
      seconds(ANSWER_TTL, "480").help(36, "How long decode pins the blocks of answers for that");

  private final Declared<String> engineId =
      text(ENGINE_ID, "TEXT", null)
          .help(37, "Name of the engine for others; rank r adds _dpR (default: a random one).");

  private final Declared<String> bootstrapPort =
      text(BOOTSTRAP_PORT, "N", null)
          .help(
              38,
              "A port of its own for /query of mooncake and the rooms of sglang; 0 takes a"
                  + " free one (default: that of --port).");

  private final Declared<String> sidePort =
      text(SIDE_PORT, "N", null)
          .help(
              38,
              "Port of rank 0's side channel of nixl and nixl_push, plus one for each further rank"
                  + " (default: that of --port, for all ranks).");

  private final Declared<Path> authKey =
      path(AUTH_KEY)
          .help(39, "Has the key that signs generation requests of trtllm (default: none).");

  DisaggOptions() {}

  private static EngineRole role(String text) {
    return switch (text.strip().toLowerCase(Locale.ROOT)) {
      case "context" -> EngineRole.PREFILL;
      case "generation" -> EngineRole.DECODE;
      default -> Values.choice(ROLE, text, List.of(EngineRole.values()), EngineRole::id);
    };
  }

  private static KvConnector connector(String text) {
    return switch (text.strip()) {
      case "NixlConnector" -> KvConnector.NIXL;
      case "NixlPushConnector" -> KvConnector.NIXL_PUSH;
      case "MooncakeConnector" -> KvConnector.MOONCAKE;
      default -> Values.choice(CONNECTOR, text, connectors(), KvConnector::id);
    };
  }

  /** Connectors of the only engine that has several. */
  static List<KvConnector> connectors() {
    return List.of(KvConnector.NIXL, KvConnector.NIXL_PUSH, KvConnector.MOONCAKE);
  }

  /**
   * {@return the engine's part in requests of several engines; empty if it has none}
   *
   * @param events the engine that it stands in for; empty for none
   * @param kv the KV of a token
   * @param sources the sources of values
   * @throws UsageException if a value is not allowed, or has no effect
   */
  public Optional<RoleSettings> settings(
      Optional<EventSettings> events, KvShape kv, Settings sources) {
    if (!role.isGiven()) {
      requireUnused(sources);
      return Optional.empty();
    }
    EngineFlavor flavor =
        events.orElseThrow(() -> new UsageException(ROLE, "needs --flavor")).flavor();
    KvConnector chosen = connector.isGiven() ? connector.value() : KvConnector.of(flavor);
    if (chosen.flavor() != flavor) {
      throw new UsageException(CONNECTOR, "needs --flavor vllm, not " + flavor.id());
    }
    requireEffect(chosen, sources);
    long bytes =
        kv.bytesPerToken() == 0 ? RoleSettings.DEFAULT_BYTES_PER_TOKEN : kv.bytesPerToken();
    RoleSettings.Builder settings =
        RoleSettings.builder(role.value(), chosen)
            .link(new KvTransfer(bytes, bandwidth.value() * BYTES_PER_GB))
            .leaseMs(lease.value())
            .waitMs(timeout.isGiven() ? timeout.value() : RoleSettings.defaultWaitMs(chosen))
            .recompute(policy.value() == Policy.RECOMPUTE)
            .bothWays(bothWays.value())
            .answerLeaseMs(answerTtl.value())
            .authKey(authKey.isGiven() ? key(authKey.value()) : null);
    if (engineId.isGiven()) {
      settings.engineId(engineId.value());
    }
    try {
      return Optional.of(settings.build());
    } catch (IllegalArgumentException e) {
      throw new UsageException(ROLE, "does not fit: " + e.getMessage());
    }
  }

  /** Refuses options that have no effect with a connector. */
  private void requireEffect(KvConnector used, Settings sources) {
    boolean nixl = used == KvConnector.NIXL || used == KvConnector.NIXL_PUSH;
    if (!nixl && sources.isSet(LEASE)) {
      throw new UsageException(LEASE, "needs " + CONNECTOR + " nixl or nixl_push");
    }
    if (!bothWays.value() && sources.isSet(ANSWER_TTL)) {
      throw new UsageException(ANSWER_TTL, "needs " + BOTH_WAYS + " true");
    }
    if (used != KvConnector.MOONCAKE
        && used != KvConnector.BOOTSTRAP
        && sources.isSet(BOOTSTRAP_PORT)) {
      throw new UsageException(
          BOOTSTRAP_PORT, "needs " + CONNECTOR + " mooncake, or --flavor sglang");
    }
  }

  private static void requireUnused(Settings sources) {
    for (String option :
        List.of(
            CONNECTOR,
            BANDWIDTH,
            LEASE,
            TIMEOUT,
            POLICY,
            BOTH_WAYS,
            ANSWER_TTL,
            ENGINE_ID,
            BOOTSTRAP_PORT,
            SIDE_PORT,
            AUTH_KEY)) {
      if (sources.isSet(option)) {
        throw new UsageException(option, "needs " + ROLE);
      }
    }
  }

  private static String key(Path file) {
    try {
      String key = Files.readString(file).strip();
      if (key.isEmpty()) {
        throw new UsageException(AUTH_KEY, "must not be empty: " + file);
      }
      return key;
    } catch (IOException e) {
      throw new UsageException(AUTH_KEY, "cannot be read: " + e.getMessage());
    }
  }

  /**
   * {@return the port of rank 0's side channel; empty if ranks have none}
   *
   * @param part the engine's part in requests of several engines
   * @param ranks the engine's ranks
   * @throws UsageException if the value is not allowed, or has no effect
   */
  public Optional<Integer> sideChannelPort(Optional<RoleSettings> part, int ranks) {
    if (!sidePort.isGiven()) {
      return Optional.empty();
    }
    KvConnector used = part.map(RoleSettings::connector).orElse(null);
    if (used != KvConnector.NIXL && used != KvConnector.NIXL_PUSH) {
      throw new UsageException(SIDE_PORT, "needs " + CONNECTOR + " nixl or nixl_push");
    }
    int last = EventSettings.MAX_PORT - ranks + 1;
    return Optional.of(Values.integer(SIDE_PORT, sidePort.value(), 1, last));
  }

  /** {@return the port for engines that fetch KV; empty for that of the server} */
  public Optional<Integer> bootstrapPort() {
    return bootstrapPort.isGiven()
        ? Optional.of(
            Values.integer(BOOTSTRAP_PORT, bootstrapPort.value(), 0, EventSettings.MAX_PORT))
        : Optional.empty();
  }
}
