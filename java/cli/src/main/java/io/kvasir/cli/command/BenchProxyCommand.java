package io.kvasir.cli.command;

import io.kvasir.benchmarks.proxy.GrowthFigures;
import io.kvasir.benchmarks.proxy.IdleMemory;
import io.kvasir.benchmarks.proxy.MatchingCommands;
import io.kvasir.benchmarks.proxy.ProxyBench;
import io.kvasir.benchmarks.proxy.ProxyBenchReport;
import io.kvasir.benchmarks.proxy.ProxyBenchSettings;
import io.kvasir.benchmarks.proxy.ProxyBenchText;
import io.kvasir.benchmarks.proxy.ProxyRound;
import io.kvasir.cli.option.FormatOption;
import io.kvasir.cli.option.Values;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kvasir bench proxy}: the gateway and nginx before the same engine. */
@Command(
    name = "proxy",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Measures the gateway beside nginx. Compiles a stub engine and a load generator, starts the"
          + " engine, nginx and the gateway on 127.0.0.1, and measures them in turn: CPU time of a"
          + " streamed chunk, time added to first byte, and requests per second at saturation."
          + " A second gateway shows what exact routing adds: it follows the block events of a"
          + " stand-in that holds the prompts' blocks. Then the gateway's memory is measured with"
          + " idle streams and during many requests."
          + " Every answer is checked.",
      ""
    },
    footer = {"", "Exit codes: 0 done, 1 the work failed, 2 wrong usage or input."})
final class BenchProxyCommand implements Callable<Integer> {

  private static final String LOOPBACK = "127.0.0.1";
  private static final int BLOCK = 16; // as vLLM's default
  private static final int MAX_ROUNDS = 100;
  private static final int MAX_SECONDS = 600;
  private static final int MAX_STREAMS = 5_000;
  private static final int MIN_CHUNK_RATE = 50;
  private static final int MAX_CHUNK_RATE = 100_000;
  private static final int MAX_REQUESTS = 100_000_000;

  private final Console console;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      order = 1,
      description =
          "Rounds of all measurements after one to warm up; 0 for none (default: ${DEFAULT-VALUE}).")
  private String rounds;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      defaultValue = "5",
      order = 2,
      description = "Length of one measurement of one server (default: ${DEFAULT-VALUE}).")
  private String seconds;

  @Option(
      names = "--streams",
      paramLabel = "N",
      defaultValue = "256",
      order = 3,
      description =
          "Streams at a time when the time to first byte is measured, each of 10 chunks 20 ms apart"
              + " (default: ${DEFAULT-VALUE}).")
  private String streams;

  @Option(
      names = "--chunk-rate",
      paramLabel = "N",
      defaultValue = "6000",
      order = 4,
      description =
          "Chunks per second when CPU time is measured, in streams of 100 chunks 20 ms apart"
              + " (default: ${DEFAULT-VALUE}).")
  private String chunkRate;

  @Option(
      names = "--idle-streams",
      paramLabel = "N",
      defaultValue = "2000",
      order = 5,
      description =
          "Streams that are held open while the heap is measured; 0 for none"
              + " (default: ${DEFAULT-VALUE}).")
  private String idleStreams;

  @Option(
      names = "--requests",
      paramLabel = "N",
      defaultValue = "1000000",
      order = 6,
      description =
          "Requests during which memory must not grow after the first tenth; 0 for none"
              + " (default: ${DEFAULT-VALUE}).")
  private String requests;

  @Option(
      names = "--gateway-command",
      paramLabel = "COMMAND",
      order = 7,
      description =
          "Measure another gateway: its command line, split at blanks, with {port}, {admin-port} and"
              + " {engine-port} for the ports.")
  private @Nullable String gatewayCommand;

  @Mixin private FormatOption format;

  BenchProxyCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws Exception {
    boolean text = format.isText();
    ProxyBenchSettings settings =
        new ProxyBenchSettings(
            root(),
            Values.integer("--rounds", rounds, 0, MAX_ROUNDS),
            Values.integer("--seconds", seconds, 1, MAX_SECONDS),
            Values.integer("--streams", streams, 1, MAX_STREAMS),
            Values.integer("--chunk-rate", chunkRate, MIN_CHUNK_RATE, MAX_CHUNK_RATE),
            Values.integer("--idle-streams", idleStreams, 0, MAX_STREAMS),
            Values.integer("--requests", requests, 0, MAX_REQUESTS));
    try (ProxyBench bench = new ProxyBench(settings, this::gateway, matching(), console::note)) {
      ProxyBenchReport report = measure(bench, settings, text);
      if (!text) {
        console.write(report::writeJson);
      }
      if (!report.isKept()) {
        console.note("a bar is missed");
        return ExitCode.FAILED;
      }
      return ExitCode.DONE;
    }
  }

  /** Prints each part as soon as it has been measured. */
  private ProxyBenchReport measure(ProxyBench bench, ProxyBenchSettings settings, boolean text)
      throws IOException, Console.OutputException {
    String machine = machine(bench.nginxVersion());
    print(text, machine + "\n");
    List<ProxyRound> measured = List.of();
    if (settings.rounds() > 0) {
      measured = bench.rounds();
      print(text, ProxyBenchText.table(measured));
      print(text, ProxyBenchText.matching(measured));
    }
    IdleMemory idle = null;
    if (settings.idleStreams() > 0) {
      idle = bench.idleMemory();
      print(text, ProxyBenchText.idle(idle));
    }
    GrowthFigures growth = null;
    if (settings.requests() > 0) {
      growth = bench.growth();
      print(text, ProxyBenchText.growth(growth));
    }
    return new ProxyBenchReport(machine, measured, idle, growth);
  }

  private void print(boolean text, String lines) throws Console.OutputException {
    if (text) {
      console.print(lines);
    }
  }

  private static String machine(String nginx) {
    OperatingSystemMXBean system = ManagementFactory.getOperatingSystemMXBean();
    return String.format(
        Locale.ROOT,
        "%s, Java %s, %d cores, load average %.1f at the beginning",
        nginx,
        Runtime.version().feature(),
        system.getAvailableProcessors(),
        system.getSystemLoadAverage());
  }

  /** The repository, as the launcher gives it. */
  private static Path root() throws IOException {
    String root = System.getProperty("kvasir.root");
    if (root == null) {
      throw new IOException(
          "bench proxy compiles C programs of the repository: run ./kvasir there");
    }
    return Path.of(root);
  }

  /** How the gateway is started: with the command line of this process. */
  private List<String> gateway(int port, int adminPort, int enginePort) {
    if (gatewayCommand != null) {
      return Arrays.stream(gatewayCommand.strip().split("\\s+"))
          .map(word -> word.replace("{port}", Integer.toString(port)))
          .map(word -> word.replace("{admin-port}", Integer.toString(adminPort)))
          .map(word -> word.replace("{engine-port}", Integer.toString(enginePort)))
          .toList();
    }
    return serve(port, adminPort, "http://" + LOOPBACK + ":" + enginePort);
  }

  private static List<String> serve(int port, int adminPort, String worker) {
    return kvasir(
        "serve",
        "--port",
        Integer.toString(port),
        "--admin-port",
        Integer.toString(adminPort),
        "--worker",
        worker);
  }

  /** Starts what shows the cost of exact routing; null for gateways that are not this one. */
  private @Nullable MatchingCommands matching() {
    return gatewayCommand == null ? new OwnMatching() : null;
  }

  private static final class OwnMatching implements MatchingCommands {

    @Override
    public List<String> publisher(int port, int eventsPort, int replayPort) {
      List<String> command =
          new ArrayList<>(
              kvasir(
                  "engine",
                  "--flavor",
                  "vllm",
                  "--events",
                  "map",
                  "--host",
                  LOOPBACK,
                  "--speed",
                  "1000",
                  "--device",
                  "cpu"));
      command.addAll(List.of("--dp", Integer.toString(RANKS)));
      command.addAll(List.of("--tokens-per-block", Integer.toString(BLOCK)));
      command.addAll(List.of("--port", Integer.toString(port)));
      command.addAll(List.of("--events-port", Integer.toString(eventsPort)));
      command.addAll(List.of("--replay-port", Integer.toString(replayPort)));
      return command;
    }

    @Override
    public List<String> gateway(
        int port, int adminPort, int enginePort, int eventsPort, int replayPort) {
      String worker =
          String.format(
              Locale.ROOT,
              "http://%1$s:%2$d,flavor=vllm,ranks=%3$d,block_size=%4$d,events=tcp://%1$s:%5$d,replay=tcp://%1$s:%6$d",
              LOOPBACK,
              enginePort,
              RANKS,
              BLOCK,
              eventsPort,
              replayPort);
      return serve(port, adminPort, worker);
    }
  }

  private static List<String> kvasir(String... words) {
    return OwnCommand.of(List.of(), List.of(words));
  }
}
