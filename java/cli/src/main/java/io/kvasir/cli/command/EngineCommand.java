package io.kvasir.cli.command;

import io.kvasir.cli.option.CommonOptions;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.DeviceOption;
import io.kvasir.cli.option.DisaggOptions;
import io.kvasir.cli.option.EmbeddedOptions;
import io.kvasir.cli.option.GroupList;
import io.kvasir.cli.option.Heading;
import io.kvasir.cli.option.KvOptions;
import io.kvasir.cli.option.OpenDevices;
import io.kvasir.cli.option.Settings;
import io.kvasir.cli.option.StandInOptions;
import io.kvasir.cli.option.UsageException;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.cli.terminal.Interrupts;
import io.kvasir.cli.terminal.Machine;
import io.kvasir.embedded.EmbeddedEngine;
import io.kvasir.embedded.EngineServer;
import io.kvasir.embedded.SideChannels;
import io.kvasir.embedded.disagg.RoleSettings;
import io.kvasir.embedded.publish.EventPublisher;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.EngineFlavor;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kvasir engine}: ranks of this process as an OpenAI server. */
@Command(
    name = "engine",
    sortOptions = false,
    abbreviateSynopsis = true,
    modelTransformer = EmbeddedOptions.OneRouter.class,
    description = {
      "Serves ADP ranks with real KV block pools and modelled steps as one OpenAI engine, for"
          + " fleets on any machine. Answers are words that a seed determines. With --flavor it has"
          + " the endpoints, events and rank selection of vLLM, SGLang or TensorRT-LLM.",
      ""
    },
    footer = {
      "",
      "Every option can also be set by a variable, KVASIR_PORT for --port, and in the file of"
          + " --config, as port.",
      "Exit codes: 0 done, 1 the work failed, 2 wrong usage, configuration or input."
    })
@Heading("Server")
public final class EngineCommand extends DeclaredOptions implements Callable<Integer> {

  private final Console console;
  private final Machine machine;
  private final Interrupts interrupts;

  private final Declared<String> host =
      text("--host", "ADDRESS", "0.0.0.0").help(10, "Address to listen on");

  private final Declared<Integer> port =
      integer("--port", "8000", 0, 65_535).help(11, "Port to listen on; 0 takes a free one");

  private final Declared<Integer> eventLoops =
      integer("--event-loops", "1", 1, 256).help(12, "Threads that serve requests");

  private final Declared<Integer> drain =
      integer("--drain-seconds", "30", 0, 86_400)
          .help(13, "How long requests may go on after SIGTERM");

  @Mixin private DeviceOption device;
  @Mixin private KvOptions kv;
  @Mixin private EmbeddedOptions embedded;
  @Mixin private StandInOptions standIn;
  @Mixin private DisaggOptions disagg;
  @Mixin private Settings sources;

  @Mixin
  @SuppressWarnings("unused") // picocli acts on it
  private CommonOptions common;

  /**
   * Makes the command.
   *
   * @param console input, output and environment
   * @param machine the machine whose devices hold pools
   * @param interrupts ends the server
   */
  public EngineCommand(Console console, Machine machine, Interrupts interrupts) {
    this.console = console;
    this.machine = machine;
    this.interrupts = interrupts;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    console.detachErrors();
    EmbeddedSettings settings = embedded.settings();
    Optional<EventSettings> standInFor = standIn.settings(host.value(), settings.ranks(), sources);
    requireEvents(settings, standInFor);
    Optional<RoleSettings> part = disagg.settings(standInFor, kv.kv(), sources);
    if (part.isPresent() && !settings.groups().isEmpty()) {
      throw new UsageException(GroupList.OPTION, "of a hybrid model excludes --role");
    }
    Optional<Integer> sidePort = disagg.sideChannelPort(part, settings.ranks());
    int wanted = port.value();
    int loops = eventLoops.value();
    long drainMs = TimeUnit.SECONDS.toMillis(drain.value());
    try (OpenDevices devices = device.open(machine, console);
        EmbeddedEngine engine = open(settings, devices.place(kv.kv()), standInFor, part);
        EngineServer server = EngineServer.start(engine, host.value(), wanted, loops);
        EngineServer bootstrap = bootstrap(engine);
        SideChannels side = sideChannels(engine, sidePort)) {
      String reached = host.value().equals("0.0.0.0") ? "127.0.0.1" : host.value();
      int transferPort = transferPort(server, bootstrap, side);
      engine.listens(reached, server.port(), transferPort);
      String url = "http://" + reached + ":" + server.port();
      String announcement =
          "kvasir: engine "
              + settings.model()
              + ", "
              + settings.ranks()
              + " ranks, "
              + url
              + "/v1"
              + engine.publisher().map(EngineCommand::ports).orElse("")
              + engine
                  .steps()
                  .map(steps -> ", forward-pass metrics from port " + steps.port())
                  .orElse("")
              + part.map(each -> role(each, transferPort)).orElse("");
      UntilSignal.serve(
          console, interrupts, () -> console.note(announcement), () -> server.stop(drainMs));
      return ExitCode.DONE;
    }
  }

  /** Only the events of vLLM say which groups hold a block. */
  private static void requireEvents(EmbeddedSettings settings, Optional<EventSettings> events) {
    EngineFlavor flavor = events.map(EventSettings::flavor).orElse(EngineFlavor.VLLM);
    if (!settings.groups().isEmpty() && flavor != EngineFlavor.VLLM) {
      throw new UsageException(
          GroupList.OPTION, "of a hybrid model needs --flavor vllm or none, not " + flavor.id());
    }
  }

  private static EmbeddedEngine open(
      EmbeddedSettings settings,
      RankPools.Place place,
      Optional<EventSettings> events,
      Optional<RoleSettings> part)
      throws IOException {
    return events.isPresent()
        ? EmbeddedEngine.open(settings, place, events.get(), part.orElse(null))
        : EmbeddedEngine.open(settings, place);
  }

  /** A server for engines that fetch KV, if it has a port of its own. */
  private @Nullable EngineServer bootstrap(EmbeddedEngine engine) throws IOException {
    Optional<Integer> port = disagg.bootstrapPort();
    return port.isPresent()
        ? EngineServer.start(engine.transfers(), host.value(), port.get(), 1)
        : null;
  }

  private @Nullable SideChannels sideChannels(EmbeddedEngine engine, Optional<Integer> port)
      throws IOException {
    return port.isPresent() ? SideChannels.open(engine, host.value(), port.get()) : null;
  }

  private static int transferPort(
      EngineServer server, @Nullable EngineServer bootstrap, @Nullable SideChannels side) {
    if (side != null) {
      return side.port();
    }
    return bootstrap == null ? server.port() : bootstrap.port();
  }

  private static String role(RoleSettings part, int transferPort) {
    return ", "
        + part.role().id()
        + " over "
        + part.connector().id()
        + ", KV from port "
        + transferPort;
  }

  private static String ports(EventPublisher publisher) {
    String replay = publisher.replayPort() == 0 ? "" : ", replay from " + publisher.replayPort();
    return ", events from port " + publisher.eventsPort() + replay;
  }
}
