package io.kvasir.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.LongRuns;
import io.kvasir.testing.harness.ReservedPort;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A replay of processes that mpirun starts prints the report of a single process. */
@Tag("process")
class ReplayLaunchTest {

  private static final String REPLAY =
      "replay --sessions 8 --turns 2-4 --concurrency 4 --ranks 4 --pool-tokens 10000"
          + " --router default,kv_cache_aware,projected --format json --device cpu";

  private static final Map<String, String> SECRET =
      Map.of("KVASIR_GROUP_SECRET", "0123456789abcdef".repeat(4));

  private static String alone;

  @BeforeAll
  static void replayInOneProcess() throws IOException {
    ChildProcess process =
        ChildProcess.run("replay", new ProcessBuilder(MpiRun.java(main(REPLAY))));
    assertThat(process.exitCode()).as(process.errors()).isZero();
    alone = report(process.output());
  }

  private static List<Arguments> launches() {
    return LongRuns.cases(
        List.of(
            arguments("openmpi", "mpi", 2),
            arguments("mpich", "mpi", 2),
            arguments("openmpi", "tcp", 2)),
        List.of(arguments("mpich", "tcp", 2), arguments("openmpi", "mpi", 1)));
  }

  @ParameterizedTest
  @MethodSource("launches")
  void reportsAreEqual(String library, String collective, int count) throws Exception {
    try (ReservedPort port = new ReservedPort();
        ChildProcess run =
            MpiRun.start(
                library,
                count,
                SECRET,
                main(REPLAY + " --collective " + collective + " --master-port " + port.number()))) {
      assertThat(run.exitCode()).as(run.output()).isZero();
      assertThat(report(run.output())).isEqualTo(alone);
    }
  }

  private static String[] main(String line) {
    List<String> main = new ArrayList<>(List.of("io.kvasir.cli.Main"));
    main.addAll(Arrays.asList(line.split(" ", -1)));
    return main.toArray(String[]::new);
  }

  /** The report without wall-clock times; the output may begin with messages. */
  private static String report(String output) {
    return output
        .substring(Math.max(0, output.indexOf('{')))
        .replaceAll("\\[rank \\d+\\][^\\n]*\\n", "")
        .replaceAll("\"wallSeconds\" ?: ?[0-9.E-]+", "\"wallSeconds\":0");
  }
}
