package io.kvasir.benchmarks.proxy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Measures servers in turn, so that what else happens on the machine meets all of them alike. Every
 * other round has the opposite order.
 *
 * <p>Confined to one thread.
 */
final class ProxyRounds {

  private static final int INTERVAL_MS = 20;
  private static final int MS_PER_S = 1000;
  private static final double NS_PER_US = 1e3;
  private static final int PACE_CHUNKS = 100; // requests cost little compared with so many chunks
  private static final int FIRST_BYTE_CHUNKS = 10;
  private static final int MIN_WARM_UPS = 5;
  private static final int MAX_WARM_UPS = 15;
  private static final int PACE_WARM_UPS = 3;
  private static final double GROWTH = 1.02;

  private final ProxyBenchSettings settings;
  private final LoadGenerator load;
  private final ServerProcess engine;
  private final ServerProcess nginx;
  private final ServerProcess gateway;
  private final @Nullable ServerProcess matching;
  private final @Nullable ServerProcess twoLegs;
  private final Consumer<String> notes;

  ProxyRounds(
      ProxyBenchSettings settings,
      LoadGenerator load,
      ServerProcess engine,
      ServerProcess nginx,
      ServerProcess gateway,
      @Nullable ServerProcess matching,
      @Nullable ServerProcess twoLegs,
      Consumer<String> notes) {
    this.settings = settings;
    this.load = load;
    this.engine = engine;
    this.nginx = nginx;
    this.gateway = gateway;
    this.matching = matching;
    this.twoLegs = twoLegs;
    this.notes = notes;
  }

  /** Warms up, then runs all rounds. */
  List<ProxyRound> run() throws IOException {
    notes.accept("warming up");
    compile(new Turn(gateway, false));
    if (matching != null) {
      compile(new Turn(matching, false));
      compile(new Turn(matching, true));
    }
    if (twoLegs != null) {
      compile(new Turn(twoLegs, false));
    }
    round(false);
    List<ProxyRound> rounds = new ArrayList<>();
    for (int i = 0; i < settings.rounds(); i++) {
      notes.accept("round " + (i + 1) + " of " + settings.rounds());
      rounds.add(round(i % 2 == 1));
    }
    return rounds;
  }

  /** Loads a gateway until its requests per second grow no more: its code is compiled then. */
  private void compile(Turn turn) throws IOException {
    double best = 0;
    for (int i = 0; i < MAX_WARM_UPS; i++) {
      turn.saturate();
      if (i >= MIN_WARM_UPS && turn.requestsPerSecond < GROWTH * best) {
        break;
      }
      best = Math.max(best, turn.requestsPerSecond);
    }
    for (int i = 0; i < PACE_WARM_UPS; i++) {
      turn.measurePace();
    }
  }

  private ProxyRound round(boolean reversed) throws IOException {
    Turn direct = new Turn(engine, false);
    Turn beforeNginx = new Turn(nginx, false);
    Turn beforeGateway = new Turn(gateway, false);
    List<Turn> order = new ArrayList<>(List.of(beforeNginx, beforeGateway));
    Turn matches = matching == null ? null : new Turn(matching, false);
    Turn asks = matching == null ? null : new Turn(matching, true);
    if (matches != null && asks != null) {
      order.addAll(List.of(matches, asks));
    }
    Turn shares = twoLegs == null ? null : new Turn(twoLegs, false);
    if (shares != null) {
      order.add(shares);
    }
    order.add(direct);
    if (reversed) {
      Collections.reverse(order);
    }
    for (Turn turn : order) {
      turn.measurePace();
    }
    for (Turn turn : order) {
      turn.measureFirstByte();
    }
    for (Turn turn : order) {
      turn.saturate();
    }
    return new ProxyRound(
        direct.figures(),
        beforeNginx.figures(),
        beforeGateway.figures(),
        matches == null ? null : matches.figures(),
        asks == null ? null : asks.figures(),
        shares == null ? null : shares.figures());
  }

  /** One server in one round. */
  private final class Turn {

    private final ServerProcess server;
    private final boolean newPrompts;
    private double cpuUsPerChunk;
    private double chunksPerSecond;
    private double chunkUs;
    private double firstByteUs;
    private double firstByteP99Us;
    private double cpuUsPerStream;
    private double requestsPerSecond;
    private double cpuUsPerRequest;

    Turn(ServerProcess server, boolean newPrompts) {
      this.server = server;
      this.newPrompts = newPrompts;
    }

    /** Streams chunks at the set rate. CPU time is that of the whole run, all chunks included. */
    void measurePace() throws IOException {
      int streams = Math.max(1, settings.chunkRate() * INTERVAL_MS / MS_PER_S);
      long beforeNs = server.cpuNs();
      LoadReport report = streams(streams, PACE_CHUNKS);
      cpuUsPerChunk = cpuUs(beforeNs, report.number("all_chunks"));
      chunksPerSecond = report.number("chunks_per_s");
      chunkUs = report.time("chunk_us", "p50");
    }

    void measureFirstByte() throws IOException {
      long beforeNs = server.cpuNs();
      LoadReport report = streams(settings.streams(), FIRST_BYTE_CHUNKS);
      cpuUsPerStream = cpuUs(beforeNs, report.number("all_requests"));
      firstByteUs = report.time("first_byte_us", "p50");
      firstByteP99Us = report.time("first_byte_us", "p99");
    }

    void saturate() throws IOException {
      long beforeNs = server.cpuNs();
      LoadReport report = run("saturate", List.of());
      requestsPerSecond = report.number("requests_per_s");
      cpuUsPerRequest = cpuUs(beforeNs, report.number("all_requests"));
    }

    private double cpuUs(long beforeNs, double parts) {
      return server == engine ? Double.NaN : (server.cpuNs() - beforeNs) / NS_PER_US / parts;
    }

    private LoadReport streams(int streams, int chunks) throws IOException {
      return run(
          "streams",
          List.of(
              "--streams",
              Integer.toString(streams),
              "--chunks",
              Integer.toString(chunks),
              "--interval-ms",
              Integer.toString(INTERVAL_MS)));
    }

    private LoadReport run(String mode, List<String> options) throws IOException {
      List<String> all = new ArrayList<>(options);
      all.addAll(List.of("--seconds", Integer.toString(settings.seconds())));
      all.addAll(List.of("--new-prompts", newPrompts ? "1" : "0"));
      LoadReport report = load.run(server.port(), mode, all.toArray(String[]::new));
      server.check();
      report.check(server.name());
      return report;
    }

    ServerFigures figures() {
      return new ServerFigures(
          cpuUsPerChunk,
          chunksPerSecond,
          chunkUs,
          firstByteUs,
          firstByteP99Us,
          cpuUsPerStream,
          requestsPerSecond,
          cpuUsPerRequest);
    }
  }
}
