package io.kvasir.cli.command;

import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.DeviceOption;
import io.kvasir.cli.option.EmbeddedOptions;
import io.kvasir.cli.option.FleetOptions;
import io.kvasir.cli.option.Heading;
import io.kvasir.cli.option.InBlocks;
import io.kvasir.cli.option.KvOptions;
import io.kvasir.cli.option.ModelOption;
import io.kvasir.cli.option.OpenDevices;
import io.kvasir.cli.option.ServeOptions;
import io.kvasir.cli.option.Settings;
import io.kvasir.cli.option.TokenizerOption;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.cli.terminal.HangUps;
import io.kvasir.cli.terminal.Interrupts;
import io.kvasir.cli.terminal.LogFile;
import io.kvasir.cli.terminal.Machine;
import io.kvasir.embedded.EmbeddedEngine;
import io.kvasir.embedded.ModelEngineSettings;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.gateway.Gateway;
import io.kvasir.gateway.GatewayOutputs;
import io.kvasir.gateway.GatewaySettings;
import io.kvasir.gateway.LocalWorker;
import io.kvasir.gateway.observe.TrafficRecording;
import io.kvasir.gateway.tokens.ModelTokens;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.OutputStream;
import java.net.BindException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code kvasir serve}: a gateway in front of engines, embedded ranks or llama.cpp. */
@Command(
    name = "serve",
    sortOptions = false,
    abbreviateSynopsis = true,
    modelTransformer = EmbeddedOptions.OneRouter.class,
    description = {
      "Serves the APIs of OpenAI and Anthropic, in front of engines or with ranks of this process."
          + " Where it follows the engines' block events (key events of --worker), each request goes"
          + " to the rank where it costs least: prompt tokens to compute, and load. Elsewhere"
          + " the texts that each rank was sent say what it holds.",
      ""
    },
    footer = {
      "",
      "Every option can also be set by a variable, KVASIR_PORT for --port, and in the file of"
          + " --config, as port or in a block such as limits (docs/configuration.md)."
          + " SIGTERM ends the gateway after the requests in progress.",
      "Exit codes: 0 done, 1 the work failed, 2 wrong usage, configuration or input."
    })
@Heading(Heading.GATEWAY)
@InBlocks
public final class ServeCommand extends DeclaredOptions implements Callable<Integer> {

  private static final int DEFAULT_CHECK_SECONDS = 60;

  private final Console console;
  private final Machine machine;
  private final Interrupts interrupts;

  @Spec private CommandSpec command;

  @Mixin private ServeOptions options;

  @Option(
      names = "--check",
      order = 38,
      description =
          "Start, answer one request of its own, print how exactly each API is routed, and stop.")
  private boolean check;

  private final Declared<Integer> checkSeconds =
      integer("--check-seconds", null, 0, 86_400)
          .help(
              38,
              "How long --check waits for engines that load, before it sends its request"
                  + " (default: 60).");

  @Option(
      names = "--startup-probe",
      order = 38,
      description =
          "Send one request for each model and API at the start, and print how exactly such"
              + " requests are routed.")
  private boolean startupProbe;

  @Mixin private ServeOutputs outputs;
  @Mixin private WarmUp warmUp;
  @Mixin private ModelOption model;
  @Mixin private TokenizerOption tokenizer;
  @Mixin private DeviceOption device;
  @Mixin private KvOptions kv;
  @Mixin private EmbeddedOptions embedded;
  @Mixin private Settings sources;

  @Mixin
  @SuppressWarnings("unused") // picocli acts on it
  private CommonOptions common;

  /**
   * Makes the command.
   *
   * @param console input, output and environment
   * @param machine the machine whose devices hold pools
   * @param interrupts ends the gateway
   */
  public ServeCommand(Console console, Machine machine, Interrupts interrupts) {
    this.console = console;
    this.machine = machine;
    this.interrupts = interrupts;
  }

  @Override
  public Integer call() throws Exception {
    console.detachErrors();
    if (checkSeconds.isGiven() && !check) {
      throw new UsageException("--check-seconds", "needs --check");
    }
    GatewaySettings settings = options.settings(sources);
    if (model.file().isPresent()) {
      ModelEngineSettings file = embedded.modelSettings(model.file().get(), sources);
      int workers = embedded.modelWorkers(sources);
      return run(
          settings,
          () -> ModelWorkers.open(file, workers),
          workers + " of llama.cpp" + (settings.hasEngines() ? ", " + engines(settings) : ""));
    }
    if (settings.hasEngines()) {
      embedded.refuse(sources::isFlag);
      return run(settings, List::of, engines(settings));
    }
    EmbeddedSettings ranks = embedded.settings();
    try (OpenDevices devices = device.open(machine, console)) {
      RankPools.Place place = devices.place(kv.kv());
      return run(
          settings,
          () -> List.of(new LocalWorker("embedded", EmbeddedEngine.open(ranks, place))),
          "1 of "
              + ranks.ranks()
              + " embedded ranks with modelled steps, "
              + ranks.router().id()
              + " ADP router");
    }
  }

  private static String engines(GatewaySettings settings) {
    List<String> parts = new ArrayList<>();
    if (!settings.workers().isEmpty()) {
      parts.add(settings.workers().size() + " over HTTP");
    }
    settings.dnsWorkers().forEach(each -> parts.add("those of " + each));
    return String.join(", ", parts);
  }

  /** Reads the settings again, and the files that they name. */
  GatewaySettings settings() {
    sources.load();
    return options.settings(sources);
  }

  private int run(GatewaySettings settings, Supplier<List<LocalWorker>> local, String workers)
      throws IOException, InterruptedException {
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler(UntilSignal.lastResort(console));
    try (ModelTokenizers tokenizers = ModelTokenizers.open(tokenizer.folders());
        ExportedTraces exported = outputs.traces();
        OutputStream log = outputs.openLog(console);
        TrafficRecording recording = outputs.openRecording()) {
      if (!check) {
        warmUp.run(settings, console, interrupts);
      }
      GatewayOutputs open = new GatewayOutputs(log, recording, exported.telemetry());
      try (Gateway gateway = start(settings, local.get(), tokenizers.models(), open)) {
        Runnable announce =
            () -> {
              announce(settings, gateway, workers);
              noteUnserved(gateway, tokenizers.models().keySet());
              if (startupProbe && !check) {
                probe(gateway, host(settings));
              }
            };
        if (check) {
          announce.run();
          int patience = checkSeconds.orElse(DEFAULT_CHECK_SECONDS);
          return SelfCheck.run(gateway, host(settings), console, patience)
              ? ExitCode.DONE
              : ExitCode.FAILED;
        }
        if (!console.terminal()) { // where it is one, SIGHUP says that it is gone
          ServeReload reload =
              new ServeReload(
                  console,
                  () -> new ServeCommand(console, machine, interrupts),
                  command.commandLine().getParseResult().originalArgs(),
                  settings,
                  sources);
          HangUps.handle(() -> onHangUp(log, reload, gateway));
        }
        UntilSignal.serve(console, interrupts, announce, gateway::stop);
      }
      return ExitCode.DONE;
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
  }

  private void onHangUp(OutputStream log, ServeReload reload, Gateway gateway) {
    if (sources.hasFiles()) {
      reload.apply(gateway);
    }
    reload.applyTls(gateway);
    reload.applyKeys(gateway);
    if (!(log instanceof LogFile file)) {
      console.note("kvasir: SIGHUP: the access log is no file, so it is not opened again");
      return;
    }
    try {
      boolean complete = file.reopen();
      console.note(
          "kvasir: SIGHUP: "
              + file
              + " is opened again"
              + (complete ? "" : "; the last lines before could not be written"));
    } catch (IOException e) {
      console.note("kvasir: SIGHUP: " + file + " cannot be opened again: " + Errors.reason(e));
    }
  }

  private static Gateway start(
      GatewaySettings settings,
      List<LocalWorker> local,
      Map<String, ModelTokens> tokenizers,
      GatewayOutputs outputs)
      throws IOException {
    try {
      return Gateway.start(settings, local, tokenizers, outputs);
    } catch (IllegalArgumentException e) {
      throw new UsageException(
          FleetOptions.ROUTER, "or " + FleetOptions.ARGS + " is wrong: " + e.getMessage());
    } catch (BindException e) {
      throw new IOException(e.getMessage() + "; --port and --admin-port choose other ports", e);
    }
  }

  private static String host(GatewaySettings settings) {
    return settings.address().host().equals("0.0.0.0") ? "127.0.0.1" : settings.address().host();
  }

  private void probe(Gateway gateway, String host) {
    Thread thread =
        new Thread(
            () -> {
              try {
                SelfCheck.awaitWorkers(gateway, console, DEFAULT_CHECK_SECONDS);
                StartupProbe.run(gateway, host, console);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "startup-probe");
    thread.setDaemon(true);
    thread.start();
  }

  private void noteUnserved(Gateway gateway, Set<String> models) {
    for (String model : models) {
      if (!gateway.fleets().fleets().containsKey(model)) {
        console.note("kvasir: --tokenizer names model " + model + ", which no worker serves yet");
      }
    }
  }

  private void announce(GatewaySettings settings, Gateway gateway, String workers) {
    boolean everywhere = settings.address().host().equals("0.0.0.0");
    String url =
        (settings.address().tls() == null ? "http://" : "https://")
            + host(settings)
            + ":"
            + gateway.port();
    String served = gateway.fleets().models().stream().findFirst().orElse("MODEL");
    console.note(
        "kvasir: OpenAI API   "
            + url
            + "/v1"
            + (everywhere ? " (and all other addresses of this machine)" : "")
            + "\n"
            + "kvasir: API keys     "
            + (gateway.keys() == null
                ? "none: every client is served (--api-keys-file)"
                : gateway.keys().summary())
            + "\n"
            + "kvasir: metrics      "
            + (settings.admin().tls() == null ? "http://" : "https://")
            + settings.admin().host()
            + ":"
            + gateway.adminPort()
            + "/metrics\n"
            + "kvasir: workers      "
            + workers
            + "\n"
            + "kvasir: fleet router "
            + ChosenRouters.of(settings, gateway.fleets().fleets())
            + "\n"
            + "kvasir: try          curl "
            + url
            + "/v1/chat/completions -H 'content-type: application/json' -d '{\"model\":\""
            + served
            + "\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}'");
  }
}
