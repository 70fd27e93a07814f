package io.kvasir.cli.command;

import io.kvasir.benchmarks.proxy.GrowthFigures;
import io.kvasir.benchmarks.proxy.IdleMemory;
import io.kvasir.benchmarks.proxy.KvasirCommands;
import io.kvasir.benchmarks.proxy.ProxyBench;
import io.kvasir.benchmarks.proxy.ProxyBenchReport;
import io.kvasir.benchmarks.proxy.ProxyBenchSettings;
import io.kvasir.benchmarks.proxy.ProxyBenchText;
import io.kvasir.benchmarks.proxy.ProxyRound;
import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.FormatOption;
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

/** {@code kvasir bench proxy}: the gateway and nginx before the same engine. */
@Command(
    name = "proxy",
    sortOptions = false,
    abbreviateSynopsis = true,
    description = {
      "Measures the gateway and nginx. Compiles a stub engine and a load generator, starts the"
          + " engine, nginx and the gateway on 127.0.0.1, and measures them in turn: CPU time of a"
          + " streamed chunk, time added to first byte, and requests per second at saturation."
          + " A second gateway shows what exact routing adds: it follows the block events of a"
          + " stand-in that holds the prompts' blocks. A third one shares each request between two"
          + " stub engines: one computes the prompt, the other answers. Then the gateway's memory"
          + " is measured with idle streams and during many requests."
          + " Every answer is checked.",
      ""
    },
    footer = {"", "Exit codes: 0 done, 1 the work failed, 2 wrong usage or input."})
final class BenchProxyCommand extends DeclaredOptions implements Callable<Integer> {

  private static final String LOOPBACK = "127.0.0.1";
  private static final int BLOCK = 16; // as vLLM's default
  private static final int MAX_ROUNDS = 100;
  private static final int MAX_SECONDS = 600;
  private static final int MAX_STREAMS = 5_000;
  private static final int MIN_CHUNK_RATE = 50;
  private static final int MAX_CHUNK_RATE = 100_000;
  private static final int MAX_REQUESTS = 100_000_000;

  private final Console console;

  private final Declared<Integer> rounds =
      integer("--rounds", "5", 0, MAX_ROUNDS)
          .help(1, "Rounds of all measurements after one to warm up; 0 for none");

  private final Declared<Integer> seconds =
      integer("--seconds", "5", 1, MAX_SECONDS).help(2, "Length of one measurement of one server");

  private final Declared<Integer> streams =
      integer("--streams", "256", 1, MAX_STREAMS)
          .help(
              3,
              "Streams at a time when the time to first byte is measured, each of 10"
                  + " chunks 20 ms apart");

  private final Declared<Integer> chunkRate =
      integer("--chunk-rate", "6000", MIN_CHUNK_RATE, MAX_CHUNK_RATE)
          .help(
              4,
              "Chunks per second when CPU time is measured, in streams of 100 chunks"
                  + " 20 ms apart");

  private final Declared<Integer> idleStreams =
      integer("--idle-streams", "2000", 0, MAX_STREAMS)
          .help(5, "Streams that are held open while the heap is measured; 0 for none");

  private final Declared<Integer> requests =
      integer("--requests", "1000000", 0, MAX_REQUESTS)
          .help(
              6,
              "Requests during which memory must not grow after the first tenth; 0 for" + " none");

  private final Declared<String> gatewayCommand =
      text("--gateway-command", "COMMAND", null)
          .help(
              7,
              "Measure another gateway: its command line, split at blanks, with"
                  + " {port}, {admin-port} and {engine-port} for the ports.");

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
            rounds.value(),
            seconds.value(),
            streams.value(),
            chunkRate.value(),
            idleStreams.value(),
            requests.value());
    try (ProxyBench bench = new ProxyBench(settings, this::gateway, more(), console::note)) {
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
      print(text, ProxyBenchText.twoLegs(measured));
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
    if (gatewayCommand.isGiven()) {
      return Arrays.stream(gatewayCommand.value().strip().split("\\s+"))
          .map(word -> word.replace("{port}", Integer.toString(port)))
          .map(word -> word.replace("{admin-port}", Integer.toString(adminPort)))
          .map(word -> word.replace("{engine-port}", Integer.toString(enginePort)))
          .toList();
    }
    return serve(port, adminPort, "--worker", url(enginePort));
  }

  private static String url(int port) {
    return "http://" + LOOPBACK + ":" + port;
  }

  private static List<String> serve(int port, int adminPort, String... workers) {
    List<String> command =
        new ArrayList<>(
            List.of(
                "serve",
                "--port",
                Integer.toString(port),
                "--admin-port",
                Integer.toString(adminPort)));
    command.addAll(List.of(workers));
    return kvasir(command.toArray(String[]::new));
  }

  /** Starts what shows the cost of more; null for gateways that are not this one. */
  private @Nullable KvasirCommands more() {
    return !gatewayCommand.isGiven() ? new OwnCommands() : null;
  }

  private static final class OwnCommands implements KvasirCommands {

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
      return serve(port, adminPort, "--worker", worker);
    }

    @Override
    public List<String> twoLegs(int port, int adminPort, int prefillPort, int decodePort) {
      return serve(port, adminPort, "--prefill", url(prefillPort), "--decode", url(decodePort));
    }
  }

  private static List<String> kvasir(String... words) {
    return OwnCommand.of(List.of(), List.of(words));
  }
}
