package io.kvasir.cli.option;

import io.kvasir.fleet.router.trtllm.DisaggFlow.Style;
import io.kvasir.gateway.disagg.DisaggSettings;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.gateway.disagg.SigningKey;
import io.kvasir.gateway.worker.DisaggDialect;
import io.kvasir.gateway.worker.DnsWorkers;
import io.kvasir.gateway.worker.WorkerRole;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options of a gateway whose workers serve prompts and answers apart. */
@Heading(value = "Prefill and decode apart", block = Block.DISAGG)
final class ServeDisagg extends DeclaredOptions {

  /** The option of the order of the parts. */
  static final String STYLE = "--schedule-style";

  /** The option of the limit for prompts that stay on a worker of role decode. */
  static final String MAX_LOCAL = "--max-local-prefill-tokens";

  /** The option of the gateway's number. */
  static final String NODE_ID = "--disagg-node-id";

  /** The option that lets prefill workers take the KV of answers. */
  static final String BOTH_WAYS = "--nixl-both-ways";

  /** The option that names a worker of role prefill. */
  static final String PREFILL = "--prefill";

  /** The option that names a worker of role decode. */
  static final String DECODE = "--decode";

  private static final String AUTH_FILE = "--disagg-auth-key-file";
  private static final String AUTH_ENV = "--disagg-auth-key-env";
  private static final RouterOption PREFILL_ROUTER =
      new RouterOption("--prefill-router", "--prefill-router-args");
  private static final RouterOption DECODE_ROUTER =
      new RouterOption("--decode-router", "--decode-router-args");

  /** Most tokens of that limit. */
  static final int MAX_LOCAL_TOKENS = 1 << 24;

  /** Routers that do not look at prompts. */
  static final Set<String> MATCH_NOTHING = Set.of("round_robin", "load_balancing");

  /** Options without a meaning where each worker serves whole requests. */
  private static final List<String> NEED_ROLES =
      List.of(
          STYLE,
          MAX_LOCAL,
          NODE_ID,
          AUTH_FILE,
          AUTH_ENV,
          PREFILL_ROUTER.option(),
          PREFILL_ROUTER.argsOption(),
          DECODE_ROUTER.option(),
          DECODE_ROUTER.argsOption(),
          "--prefill-timeout-seconds",
          BOTH_WAYS);

  @Option(
      names = PREFILL,
      paramLabel = "URL[,KEY=VALUE]...",
      hideParamSyntax = true,
      split = "\\s+",
      order = 18,
      description =
          "An engine that computes prompts only, as --worker with role=prefill; may be repeated."
              + " Further keys: disagg (nixl, nixl_push, mooncake, bootstrap or trtllm; default:"
              + " nixl, bootstrap or trtllm by flavor), bootstrap, bootstrap_port, side_channel,"
              + " engine_id, tp_size.")
  private List<String> prefills = new ArrayList<>();

  @Option(
      names = DECODE,
      paramLabel = "URL[,KEY=VALUE]...",
      hideParamSyntax = true,
      split = "\\s+",
      order = 18,
      description =
          "An engine that generates answers from the KV of a prefill engine, as --worker with"
              + " role=decode; may be repeated.")
  private List<String> decodes = new ArrayList<>();

  @Option(
      names = DisaggFile.OPTION,
      paramLabel = "FILE",
      order = 18,
      description =
          "The YAML file of trtllm-serve disaggregated, as it is; flags, variables and --config"
              + " override it (default: none).")
  @SuppressWarnings("unused") // read with the settings
  private @Nullable String file;

  private final Declared<String> prefillRouter =
      text(PREFILL_ROUTER.option(), "NAME", null)
          .candidates(Choices.GatewayRouters.class)
          .help(19, "Router among the workers of role prefill (default: that of --fleet-router).");

  private final Declared<String> prefillArgs =
      text(PREFILL_ROUTER.argsOption(), "KEY=VALUE[,KEY=VALUE]", null)
          .help(19, "Args of the router among the workers of role prefill (default: none).");

  private final Declared<String> decodeRouter =
      text(DECODE_ROUTER.option(), "NAME", null)
          .candidates(Choices.GatewayRouters.class)
          .help(19, "Router among the workers of role decode (default: that of --fleet-router).");

  private final Declared<String> decodeArgs =
      text(DECODE_ROUTER.argsOption(), "KEY=VALUE[,KEY=VALUE]", null)
          .help(19, "Args of the router among the workers of role decode (default: none).");

  private final Declared<Style> style =
      choice(STYLE, "context_first", Style.class)
          .candidates(Choices.ScheduleStyles.class)
          .help(
              19,
              "Which part TensorRT-LLM's workers are sent first: ${COMPLETION-CANDIDATES}; the other"
                  + " engines' protocols say it themselves");

  private final Declared<Integer> maxLocalPrefill =
      integer(MAX_LOCAL, null, 0, MAX_LOCAL_TOKENS)
          .help(
              19,
              "Most tokens of a prompt that a decode worker may lack and still serve it whole"
                  + " (default: the router decides).");

  private final Declared<Double> prefillTimeout =
      number("--prefill-timeout-seconds", "120", 0.001, DisaggSettings.MAX_PREFILL_TIMEOUT_MS / 1e3)
          .label("N")
          .help(19, "Limit for the prefill part of a request, below the 300 s of engines");

  private final Declared<Integer> nodeId =
      integer(NODE_ID, null, 0, DisaggSettings.MAX_NODE_ID)
          .help(
              19,
              "Number of this gateway in the ids of transfers, different at each gateway of the"
                  + " same workers (default: random).");

  private final Declared<String> authFile =
      text(AUTH_FILE, "FILE", null)
          .help(
              19,
              "File with TensorRT-LLM's internal_request_auth_key, which signs generation requests"
                  + " (default: that of --disagg-config).");

  private final Declared<String> authVariable =
      text(AUTH_ENV, "NAME", null).help(19, "Variable that has this key (default: none).");

  private final Declared<Boolean> trustKvParams =
      flag("--trust-kv-params", "false")
          .candidates(Choices.Booleans.class)
          .help(
              19,
              "Pass a client's own parameters of KV transfers on, where it asks by"
                  + " x-kvasir-pass-kv-params: true");

  private final Declared<Boolean> nixlBothWays =
      flag(BOTH_WAYS, "false")
          .candidates(Choices.Booleans.class)
          .help(
              19,
              "Let prefill workers of nixl take the KV of a conversation's last answer from the"
                  + " decode worker; see docs/disaggregation.md for what it risks");

  ServeDisagg() {}

  /**
   * The workers of the options for roles.
   *
   * @throws UsageException if a description is wrong
   */
  List<WorkerSpec> workers() {
    List<WorkerSpec> specs = new ArrayList<>(specs(PREFILL, prefills, WorkerRole.PREFILL));
    specs.addAll(specs(DECODE, decodes, WorkerRole.DECODE));
    return specs;
  }

  /** Those that DNS lists. */
  List<DnsWorkers> dnsWorkers() {
    List<DnsWorkers> workers = new ArrayList<>(dnsWorkers(PREFILL, prefills, WorkerRole.PREFILL));
    workers.addAll(dnsWorkers(DECODE, decodes, WorkerRole.DECODE));
    return workers;
  }

  /** The workers with an address that one option describes; it may state their role. */
  static List<WorkerSpec> specs(String option, List<String> texts, @Nullable WorkerRole role) {
    return read(
        option, texts, text -> !DnsWorkers.isMeant(text), text -> WorkerSpec.parse(text, role));
  }

  /** Those of an option that DNS lists. */
  static List<DnsWorkers> dnsWorkers(String option, List<String> texts, @Nullable WorkerRole role) {
    return read(option, texts, DnsWorkers::isMeant, text -> DnsWorkers.parse(text, role));
  }

  private static <T> List<T> read(
      String option, List<String> texts, Predicate<String> meant, Function<String, T> parser) {
    List<T> all = new ArrayList<>();
    for (int i = 0; i < texts.size(); i++) {
      try {
        if (meant.test(texts.get(i))) {
          all.add(parser.apply(texts.get(i)));
        }
      } catch (IllegalArgumentException e) {
        throw new UsageException(option, i, "is wrong: " + e.getMessage());
      }
    }
    return all;
  }

  /**
   * Checks that each part of a request has workers, and that they speak the same protocols.
   *
   * @param workers all workers
   * @param isFlag whether an option is on the command line
   * @throws UsageException if they do not
   */
  void check(List<WorkerSpec> workers, Predicate<String> isFlag) {
    Set<DisaggDialect> prefill = dialects(workers, WorkerRole.PREFILL);
    Set<DisaggDialect> decode = dialects(workers, WorkerRole.DECODE);
    boolean whole = !dialects(workers, WorkerRole.BOTH).isEmpty();
    if (prefill.isEmpty() && decode.isEmpty()) {
      for (String option : NEED_ROLES) {
        if (isFlag.test(option)) {
          throw new UsageException(option, "needs " + PREFILL + " and " + DECODE);
        }
      }
    } else if (decode.isEmpty() && !whole) {
      throw new UsageException(
          prefills.isEmpty() ? ServeOptions.WORKER : PREFILL,
          "needs " + DECODE + " URL: no worker generates the answers to the computed prompts");
    } else if (prefill.isEmpty() && !whole) {
      throw new UsageException(
          decodes.isEmpty() ? ServeOptions.WORKER : DECODE,
          "needs " + PREFILL + " URL: no worker computes the prompts");
    } else if (prefill.size() > 1) {
      throw new UsageException(
          prefills.isEmpty() ? ServeOptions.WORKER : PREFILL,
          "must have one protocol for all workers with role=prefill, not disagg=%s: each needs a gateway of its own"
              .formatted(ids(prefill)));
    } else if (!prefill.isEmpty() && !decode.isEmpty() && !prefill.equals(decode)) {
      throw new UsageException(
          prefills.isEmpty() ? ServeOptions.WORKER : PREFILL,
          "must speak the protocol of role decode: disagg is %s with role=prefill and %s with"
                  .formatted(ids(prefill), ids(decode))
              + " role=decode");
    }
    if (nixlBothWays.value() && !prefill.equals(Set.of(DisaggDialect.NIXL))) {
      throw nixlBothWays.wrong("needs workers with disagg=nixl, not " + ids(prefill));
    }
  }

  /** Whether prefill workers take the KV of answers. */
  boolean sharesAnswers() {
    return nixlBothWays.value();
  }

  private static Set<DisaggDialect> dialects(List<WorkerSpec> workers, WorkerRole role) {
    Set<DisaggDialect> dialects = EnumSet.noneOf(DisaggDialect.class);
    workers.stream()
        .filter(worker -> worker.disagg().role() == role)
        .forEach(worker -> dialects.add(worker.disagg().dialect()));
    return dialects;
  }

  private static String ids(Set<DisaggDialect> dialects) {
    return dialects.stream().map(DisaggDialect::id).collect(Collectors.joining(" and "));
  }

  /**
   * How requests are split.
   *
   * @param router the router of the workers of role both
   * @param ofFile the key of signatures in the file; null for none
   * @throws UsageException if a value is not allowed
   */
  DisaggSettings settings(RouterChoice router, @Nullable SigningKey ofFile) {
    RouterChoice decode = choice(DECODE_ROUTER, decodeRouter, decodeArgs, router);
    if (maxLocalPrefill.isGiven() && MATCH_NOTHING.contains(decode.name())) {
      throw maxLocalPrefill.wrong(
          "needs a router of decode that matches prompts, not " + decode.name());
    }
    return new DisaggSettings(
        style.value(),
        maxLocalPrefill.orElse(-1),
        nodeId.isGiven()
            ? nodeId.value()
            : ThreadLocalRandom.current().nextInt(DisaggSettings.MAX_NODE_ID + 1),
        authKey(ofFile),
        choice(PREFILL_ROUTER, prefillRouter, prefillArgs, router),
        decode,
        (int) Math.max(1, Math.round(1e3 * prefillTimeout.value())),
        trustKvParams.value(),
        nixlBothWays.value());
  }

  private static RouterChoice choice(
      RouterOption option, Declared<String> name, Declared<String> args, RouterChoice router) {
    String text = name.text();
    if (text == null && !args.isGiven()) {
      return router;
    }
    return option.readTried(text == null ? RouterChoice.AUTO : text, args.text());
  }

  private @Nullable SigningKey authKey(@Nullable SigningKey ofFile) {
    if (authFile.isGiven() && authVariable.isGiven()) {
      throw authFile.wrong("and " + AUTH_ENV + " exclude each other");
    }
    try {
      if (authFile.isGiven()) {
        return SigningKey.ofFile("file", authFile.value());
      }
    } catch (IllegalArgumentException e) {
      throw authFile.wrong("is wrong: " + e.getMessage());
    }
    try {
      return authVariable.isGiven()
          ? SigningKey.ofVariable("value", authVariable.value(), System::getenv)
          : ofFile;
    } catch (IllegalArgumentException e) {
      throw authVariable.wrong("is wrong: " + e.getMessage());
    }
  }
}
