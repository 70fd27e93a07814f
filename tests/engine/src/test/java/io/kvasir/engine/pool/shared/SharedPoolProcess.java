package io.kvasir.engine.pool.shared;

import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.pool.PoolChurn;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;

/**
 * The other process of {@link SharedPoolProcessTest}: a reader, or an owner, that does what lines
 * on its standard input say.
 */
final class SharedPoolProcess implements AutoCloseable {

  static final PoolShape SHAPE = new PoolShape(80, 2, 8, 12, 1 << 10);

  private final ChildProcess process;
  private final PrintWriter to;

  private SharedPoolProcess(ChildProcess process) {
    this.process = process;
    this.to = new PrintWriter(process.input(), true, StandardCharsets.UTF_8);
  }

  static SharedPoolProcess start(String role, Path file) throws IOException {
    ProcessBuilder process =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            SharedPoolProcess.class.getName(),
            role,
            file.toString());
    return new SharedPoolProcess(ChildProcess.start(role, process));
  }

  /** Sends a line, waits for the answer. */
  String ask(String line) {
    to.println(line);
    return process.nextLine();
  }

  /** SIGKILL; returns when the process is gone. */
  void kill() {
    process.kill();
    process.exitCode();
  }

  @Override
  public void close() {
    process.close();
  }

  public static void main(String[] arguments) throws IOException {
    Path file = Path.of(arguments[1]);
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    if (arguments[0].equals("reader")) {
      read(file, in, System.out);
    } else {
      own(file, in, System.out);
    }
  }

  /** Each line holds the names of a prompt; the answer is its match and the occupancy. */
  private static void read(Path file, BufferedReader in, PrintStream out) throws IOException {
    try (SharedPoolReader reader = SharedPoolReader.open(file, Duration.ofDays(1))) {
      ProbeBatch batch = new ProbeBatch();
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        long[] names =
            Arrays.stream(line.split(" ", -1))
                .filter(name -> !name.isEmpty())
                .mapToLong(Long::parseLong)
                .toArray();
        batch.clear();
        batch.add(names, names.length);
        int[] matched = new int[1];
        boolean known = reader.poll();
        reader.probe(batch, matched, 0);
        out.println((known ? matched[0] : -1) + " " + reader.owner() + " " + reader.occupancy());
      }
    }
  }

  /** Shares a pool and changes it by as many random steps as each line says. */
  private static void own(Path file, BufferedReader in, PrintStream out) throws IOException {
    SharedPoolRegion region = SharedPoolRegion.create(file, SHAPE, new RankId(1, 0), 0);
    region.startHeartbeat(Duration.ofMillis(5));
    NativeBlockPool pool = NativeBlockPool.create(region);
    PoolChurn churn = new PoolChurn(pool, 1);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      for (int steps = Integer.parseInt(line); steps > 0; steps--) {
        churn.step();
      }
      out.println(pool.occupancy());
    }
  }
}
