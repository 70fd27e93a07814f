package io.kvasir.benchmarks.proxy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The servers of the benchmark: a stub engine, nginx and the gateway before it, a gateway that
 * matches blocks, and one that shares requests between two stub engines. All listen on 127.0.0.1
 * and end when this is closed, or when this process ends.
 *
 * <p>Confined to one thread.
 */
public final class ProxyBench implements AutoCloseable {

  private static final String TARGET = "target/bench";
  private static final int READY_TRIES = 300;
  private static final int TRY_AGAIN_MS = 200;
  private static final int IDLE_SECONDS = 5; // as uvicorn

  private final ProxyBenchSettings settings;
  private final Consumer<String> notes;
  private final Path folder;
  private final List<ServerProcess> servers = new ArrayList<>();
  private final LoadGenerator load;
  private final String nginxVersion;
  private final ServerProcess engine;
  private final @Nullable ServerProcess nginx;
  private final ServerProcess gateway;
  private final @Nullable ServerProcess matching;
  private final @Nullable ServerProcess twoLegs;

  /**
   * Compiles the programs, starts all servers and waits until they answer.
   *
   * @param settings what will be measured
   * @param gatewayCommand starts the gateway
   * @param more starts the gateways that match blocks and have two legs; null for none
   * @param notes receives a line for each step
   * @throws IOException if a tool is missing, or a server does not start
   */
  public ProxyBench(
      ProxyBenchSettings settings,
      GatewayCommand gatewayCommand,
      @Nullable KvasirCommands more,
      Consumer<String> notes)
      throws IOException {
    this.settings = settings;
    this.notes = notes;
    boolean compares = settings.rounds() > 0;
    this.nginxVersion = compares ? NginxServer.version() : "no nginx";
    notes.accept("compiling the stub engine and the load generator");
    Path target = settings.root().resolve(TARGET);
    BenchPrograms programs = BenchPrograms.compile(settings.root(), target);
    this.load = new LoadGenerator(programs.loadGenerator());
    this.folder = Files.createTempDirectory(target, "run-");
    boolean ready = false;
    try {
      notes.accept("starting the stub engine" + (compares ? ", nginx" : "") + " and the gateway");
      engine = started(startEngine(programs, "engine"));
      nginx = compares ? started(NginxServer.start(folder, engine.port())) : null;
      gateway = started(startGateway(gatewayCommand));
      matching = compares && more != null ? startMatching(more) : null;
      twoLegs = compares && more != null ? startTwoLegs(programs, more) : null;
      ready = true;
    } finally {
      if (!ready) {
        close();
      }
    }
  }

  private ServerProcess startEngine(BenchPrograms programs, String name) throws IOException {
    int port = Tools.freePort();
    List<String> command =
        List.of(
            programs.stubEngine().toString(),
            "--port",
            Integer.toString(port),
            "--idle-seconds",
            Integer.toString(IDLE_SECONDS));
    return ServerProcess.start("the stub engine", port, command, folder.resolve(name + ".log"));
  }

  private ServerProcess startGateway(GatewayCommand gatewayCommand) throws IOException {
    int port = Tools.freePort();
    List<String> command = gatewayCommand.of(port, Tools.freePort(), engine.port());
    return ServerProcess.start("the gateway", port, command, folder.resolve("gateway.log"));
  }

  private ServerProcess startTwoLegs(BenchPrograms programs, KvasirCommands commands)
      throws IOException {
    notes.accept("starting a second stub engine, and a gateway with a prefill and a decode worker");
    ServerProcess decode = started(startEngine(programs, "decode"));
    int port = Tools.freePort();
    List<String> command = commands.twoLegs(port, Tools.freePort(), engine.port(), decode.port());
    return started(
        ServerProcess.start(
            "the gateway with two legs", port, command, folder.resolve("two-legs.log")));
  }

  private ServerProcess startMatching(KvasirCommands commands) throws IOException {
    notes.accept("starting a stand-in that publishes blocks, and a gateway that follows them");
    return answering(new MatchingServers(engine, commands, folder, servers::add).gateway());
  }

  /** Waits until a server answers a request. */
  private ServerProcess started(ServerProcess server) throws IOException {
    servers.add(server);
    return answering(server);
  }

  private ServerProcess answering(ServerProcess server) throws IOException {
    String error = "";
    for (int i = 0; i < READY_TRIES; i++) {
      server.check();
      LoadReport report = load.run(server.port(), "count", "--requests", "1", "--connections", "1");
      if (report.failed() == 0) {
        return server;
      }
      error = report.firstError();
      Tools.sleep(TRY_AGAIN_MS);
    }
    throw new IOException(server.name() + " does not answer: " + error + server.lastLines());
  }

  /** {@return nginx's name and version, or that there is none because no rounds are measured} */
  public String nginxVersion() {
    return nginxVersion;
  }

  /**
   * Measures all servers in turn. Takes the time of all rounds.
   *
   * @return the rounds; empty if the settings demand none
   * @throws IOException if an answer is wrong or a server ends
   */
  public List<ProxyRound> rounds() throws IOException {
    return nginx == null
        ? List.of()
        : new ProxyRounds(settings, load, engine, nginx, gateway, matching, twoLegs, notes).run();
  }

  /**
   * Measures the gateway's memory while many streams are open.
   *
   * @return the figures
   * @throws IOException if a stream ends or the gateway is not a Java process
   */
  public IdleMemory idleMemory() throws IOException {
    notes.accept("holding " + settings.idleStreams() + " streams");
    return new GatewayMemory(load, engine, gateway).whileIdle(settings.idleStreams());
  }

  /**
   * Measures the gateway's memory after each tenth of many requests.
   *
   * @return the figures
   * @throws IOException if an answer is wrong or the gateway is not a Java process
   */
  public GrowthFigures growth() throws IOException {
    return new GatewayMemory(load, engine, gateway).afterTenths(settings.requests(), notes);
  }

  /** Ends all servers and removes their files; takes up to ten seconds a server. */
  @Override
  public void close() {
    Collections.reverse(servers);
    servers.forEach(ServerProcess::close);
    servers.clear();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      notes.accept("cannot remove " + folder);
    }
  }
}
