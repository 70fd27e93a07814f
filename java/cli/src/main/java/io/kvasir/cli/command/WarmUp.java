package io.kvasir.cli.command;

import io.kvasir.cli.option.Declared;
import io.kvasir.cli.option.DeclaredOptions;
import io.kvasir.cli.option.Heading;
import io.kvasir.cli.terminal.Console;
import io.kvasir.cli.terminal.ExitCode;
import io.kvasir.cli.terminal.HangUps;
import io.kvasir.cli.terminal.Interrupts;
import io.kvasir.embedded.EmbeddedEngine;
import io.kvasir.embedded.EngineServer;
import io.kvasir.embedded.publish.EventForm;
import io.kvasir.embedded.publish.EventPublisher;
import io.kvasir.embedded.publish.EventSettings;
import io.kvasir.embedded.ranks.EmbeddedSettings;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.exchange.EngineFlavor;
import io.kvasir.gateway.Gateway;
import io.kvasir.gateway.GatewayOutputs;
import io.kvasir.gateway.GatewaySettings;
import io.kvasir.gateway.observe.TrafficRecording;
import io.kvasir.gateway.openai.JsonText;
import io.kvasir.gateway.worker.DnsWorkers;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.model.Errors;
import io.opentelemetry.api.OpenTelemetry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * Runs what serves requests before the gateway does, so that its code is compiled when the first
 * request comes: another gateway with the same settings serves made-up conversations on the
 * loopback interface, in front of a stand-in for vLLM. Both are gone afterwards, and nothing of
 * them stays in the gateway's state, logs or metrics.
 */
@Heading(Heading.GATEWAY)
final class WarmUp extends DeclaredOptions {

  private static final double DEFAULT_SECONDS = 3;

  private static final String HOST = "127.0.0.1";
  private static final String MODEL = "warm-up";
  private static final int RANKS = 2;
  private static final double SPEED = 1e4;
  private static final int CLIENTS = 4;
  private static final int MOST_FAILED = 20;
  private static final int TURNS = 6;
  private static final int SYSTEM_WORDS = 60;
  private static final int TURN_WORDS = 15;

  /** How long the last requests may go on. */
  private static final long LAST_ANSWER_NS = 1_000_000_000;

  /** The requests by path: the text of all turns, and whether the answer is streamed. */
  private static final List<Map.Entry<String, String>> REQUESTS =
      List.of(
          Map.entry(
              "/v1/chat/completions",
              "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":%s}],\"max_tokens\":4,\"stream\":%s}"),
          Map.entry(
              "/v1/messages",
              "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\",\"content\":%s}],\"max_tokens\":4,\"stream\":%s}"),
          Map.entry(
              "/v1/responses",
              "{\"model\":\"%s\",\"input\":%s,\"max_output_tokens\":4,\"store\":false,\"stream\":%s}"),
          Map.entry(
              "/v1/completions",
              "{\"model\":\"%s\",\"prompt\":%s,\"max_tokens\":4,\"stream\":%s}"));

  private final Declared<Double> seconds =
      number("--warm-up-seconds", null, 0, 60)
          .label("N")
          .help(
              38,
              "How long requests of its own are served before the public port opens, so that most"
                  + " code is compiled when clients come (default: 3 in front of engines, else 0).");

  /**
   * Warms up. If it fails, a note says so. Signals meanwhile: SIGHUP is ignored, as there is
   * nothing to read again, and SIGTERM ends the process as it does later.
   *
   * @param settings how the gateway will run
   * @throws InterruptedException if this thread is interrupted
   */
  void run(GatewaySettings settings, Console console, Interrupts interrupts)
      throws InterruptedException {
    double limit = seconds.orElse(settings.hasEngines() ? DEFAULT_SECONDS : 0);
    if (limit == 0) {
      return;
    }
    interrupts.endWith(() -> ExitCode.DONE);
    if (!console.terminal()) {
      HangUps.handle(() -> {});
    }
    PrintStream err = System.err;
    System.setErr(new PrintStream(new ErrorLines(err), true, StandardCharsets.UTF_8));
    String outcome;
    try {
      long served = serve(settings, Math.round(1e9 * limit));
      outcome =
          served == 0
              ? "begins without a warm-up: none of its own requests was served"
              : "warmed up by " + served + " requests of its own";
    } catch (IOException | RuntimeException | OutOfMemoryError | LinkageError e) {
      outcome = "begins without a warm-up: " + Errors.reason(e);
    } finally {
      System.setErr(err);
    }
    console.note("kvasir: " + outcome);
  }

  /** Passes on the log's lines of errors alone. */
  private static final class ErrorLines extends OutputStream {
    private final PrintStream err;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();

    ErrorLines(PrintStream err) {
      this.err = err;
    }

    @Override
    public synchronized void write(int octet) {
      line.write(octet);
      if (octet == '\n') {
        String text = line.toString(StandardCharsets.UTF_8);
        line.reset();
        if (text.contains("[ERROR]")) {
          err.print(text);
        }
      }
    }
  }

  private static long serve(GatewaySettings settings, long ns)
      throws IOException, InterruptedException {
    EmbeddedSettings ranks =
        EmbeddedSettings.builder(MODEL).ranks(RANKS).speed(SPEED).responseStoreBytes(0).build();
    EventSettings events =
        new EventSettings(
            EngineFlavor.VLLM,
            EventForm.ARRAY,
            EventSettings.newestReplay(EngineFlavor.VLLM),
            EventSettings.numbers(EngineFlavor.VLLM),
            HOST,
            0,
            0,
            "",
            EventSettings.NO_PORT,
            false);
    try (EmbeddedEngine engine = EmbeddedEngine.open(ranks, RankPools.Place.HOST, events, null);
        EngineServer server = EngineServer.start(engine, HOST, 0, 1)) {
      engine.listens(HOST, server.port(), server.port());
      EventPublisher publisher = engine.publisher().orElseThrow();
      String url = "http://%s:%d,ranks=%d".formatted(HOST, server.port(), RANKS);
      String feeds =
          ",events=tcp://%s:%d,replay=tcp://%s:%d"
              .formatted(HOST, publisher.eventsPort(), HOST, publisher.replayPort());
      boolean follows =
          Stream.concat(
                  settings.workers().stream(),
                  settings.dnsWorkers().stream().map(DnsWorkers::example))
              .anyMatch(each -> each.poll() || each.events() != null);
      GatewayOutputs outputs =
          new GatewayOutputs(
              OutputStream.nullOutputStream(), TrafficRecording.NONE, OpenTelemetry.noop());
      WorkerSpec worker = WorkerSpec.parse(follows ? url + feeds : url);
      try (Gateway gateway =
          Gateway.start(settings.onLoopback(worker), List.of(), Map.of(), outputs)) {
        return serve(gateway, ns);
      }
    }
  }

  private static long serve(Gateway gateway, long ns) throws InterruptedException {
    long endNs = System.nanoTime() + ns;
    LongAdder served = new LongAdder();
    List<Thread> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      SplittableRandom random = new SplittableRandom(i);
      Thread client =
          new Thread(
              () -> {
                int failed = 0;
                while (failed < MOST_FAILED && System.nanoTime() - endNs < 0) {
                  failed += converse(gateway, random, endNs, served) ? 0 : 1;
                }
              },
              "warm-up-" + i);
      client.setDaemon(true);
      client.start();
      clients.add(client);
    }
    join(clients, endNs + LAST_ANSWER_NS);
    return served.sum();
  }

  /** Waits for the end of all clients, up to a time. */
  static void join(List<Thread> clients, long endNs) throws InterruptedException {
    for (Thread client : clients) {
      TimeUnit.NANOSECONDS.timedJoin(client, endNs - System.nanoTime());
    }
  }

  /** One conversation, or a part of it; false if a request failed, which ends it. */
  private static boolean converse(
      Gateway gateway, SplittableRandom random, long endNs, LongAdder served) {
    Map.Entry<String, String> request = REQUESTS.get(Math.max(0, random.nextInt(7) - 3));
    StringBuilder text = new StringBuilder("You are a helpful assistant.");
    words(text, new SplittableRandom(0), SYSTEM_WORDS);
    for (int turn = 0; turn < TURNS && System.nanoTime() - endNs < 0; turn++) {
      words(text, random, TURN_WORDS);
      String body =
          request
              .getValue()
              .formatted(MODEL, JsonText.quoted(text.toString()), random.nextInt(4) > 0);
      try {
        OwnRequest.Answer answer = OwnRequest.send(gateway, HOST, request.getKey(), body);
        if (answer.status() != 200) {
          return false;
        }
        served.increment();
      } catch (IOException e) {
        return false;
      }
    }
    return true;
  }

  private static void words(StringBuilder text, SplittableRandom random, int count) {
    random.ints(count, 0, 20_000).forEach(word -> text.append(' ').append(word));
  }
}
