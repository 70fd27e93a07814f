package io.kvasir.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A replay of processes that mpirun starts prints the report of a single process. */
@Timeout(300)
class ReplayLaunchTest {

  private static final String REPLAY =
      "replay --sessions 20 --turns 2-4 --concurrency 8 --ranks 4 --pool-tokens 20000"
          + " --router default,kv_cache_aware,projected --format json --device cpu";

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({"openmpi,mpi,2", "mpich,mpi,2", "openmpi,tcp,2", "mpich,tcp,2", "openmpi,mpi,1"})
  void reportsAreEqual(String library, String collective, int count) throws Exception {
    MpiRun.End end =
        run(
            library,
            count,
            REPLAY + " --collective " + collective + " --master-port " + freePort());
    assertThat(end.exitCode()).as(end.output()).isZero();
    assertThat(report(end.output())).isEqualTo(report(alone()));
  }

  private MpiRun.End run(String library, int count, String line) throws Exception {
    Map<String, String> secret = Map.of("KVASIR_GROUP_SECRET", "0123456789abcdef".repeat(4));
    try (MpiRun run = MpiRun.start(library, count, folder, secret, main(line))) {
      return run.await();
    }
  }

  private static String[] main(String line) {
    List<String> main = new ArrayList<>(List.of("io.kvasir.cli.Main"));
    main.addAll(Arrays.asList(line.split(" ", -1)));
    return main.toArray(String[]::new);
  }

  private static String alone() throws Exception {
    Process process = new ProcessBuilder(MpiRun.java(main(REPLAY))).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).isZero();
    return output;
  }

  /** The report without wall-clock times; the output may begin with messages. */
  private static String report(String output) {
    return output
        .substring(Math.max(0, output.indexOf('{')))
        .replaceAll("\\[rank \\d+\\][^\\n]*\\n", "")
        .replaceAll("\"wallSeconds\" ?: ?[0-9.E-]+", "\"wallSeconds\":0");
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
