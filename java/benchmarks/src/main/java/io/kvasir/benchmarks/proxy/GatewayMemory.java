package io.kvasir.benchmarks.proxy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures the gateway's memory under load. The heap is what live objects take, by the JVM's own
 * count, for which it collects all garbage.
 *
 * <p>Confined to one thread.
 */
final class GatewayMemory {

  private static final Pattern TOTAL = Pattern.compile("(?m)^Total\\s+\\d+\\s+(\\d+)\\s*$");
  private static final int TENTHS = 10;
  private static final int STREAM_EVERY = 10;
  private static final int BURST_OF_TENTH = 2;
  private static final int PAUSED_REQUESTS = 50_000; // fewer are not worth a pause
  private static final int PAUSE_MS = 5_500; // the engine closes idle connections meanwhile
  private static final int CANCELLED_TRIES = 100;
  private static final int TRY_AGAIN_MS = 100;

  private final LoadGenerator load;
  private final ServerProcess engine;
  private final ServerProcess gateway;

  GatewayMemory(LoadGenerator load, ServerProcess engine, ServerProcess gateway) {
    this.load = load;
    this.engine = engine;
    this.gateway = gateway;
  }

  IdleMemory whileIdle(int streams) throws IOException {
    long before = heapBytes();
    long[] with = new long[2];
    LoadReport report =
        load.hold(
            gateway.port(),
            streams,
            () -> {
              with[0] = heapBytes();
              with[1] = gateway.residentBytes();
            });
    gateway.check();
    report.check(gateway.name());
    return new IdleMemory(streams, before, with[0], with[1], awaitCancelled());
  }

  GrowthFigures afterTenths(int requests, Consumer<String> notes) throws IOException {
    int tenth = Math.max(1, requests / TENTHS);
    List<String> options =
        new ArrayList<>(
            List.of(
                "--requests",
                Integer.toString(tenth),
                "--stream-every",
                Integer.toString(STREAM_EVERY)));
    if (tenth >= PAUSED_REQUESTS) {
      int burst = (tenth + BURST_OF_TENTH - 1) / BURST_OF_TENTH;
      options.addAll(
          List.of("--burst", Integer.toString(burst), "--pause-ms", Integer.toString(PAUSE_MS)));
    }
    List<GrowthFigures.Tenth> tenths = new ArrayList<>();
    for (int i = 1; i <= TENTHS; i++) {
      notes.accept("request " + i * (long) tenth + " of " + TENTHS * (long) tenth);
      LoadReport report = load.run(gateway.port(), "count", options.toArray(String[]::new));
      gateway.check();
      report.check(gateway.name());
      tenths.add(new GrowthFigures.Tenth(i * (long) tenth, heapBytes(), gateway.residentBytes()));
    }
    return new GrowthFigures(tenths);
  }

  private long heapBytes() throws IOException {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    if (!Files.isExecutable(jcmd)) {
      throw new IOException(
          jcmd + " is missing. Install a JDK: apt-get install default-jdk-headless");
    }
    String histogram =
        Tools.output(List.of(jcmd.toString(), Long.toString(gateway.pid()), "GC.class_histogram"));
    Matcher total = TOTAL.matcher(histogram);
    if (!total.find()) {
      throw new IOException("jcmd gave no total of the gateway's heap");
    }
    return Long.parseLong(total.group(1));
  }

  /** Whether the engine ends all answers, within ten seconds, now that their clients have gone. */
  private boolean awaitCancelled() throws IOException {
    for (int i = 0; i < CANCELLED_TRIES; i++) {
      if (engineStats().contains("\"running\":0}")) {
        return true;
      }
      Tools.sleep(TRY_AGAIN_MS);
    }
    return false;
  }

  private String engineStats() throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), engine.port())) {
      String request = "GET /stub/stats HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }
  }
}
