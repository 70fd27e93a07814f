package io.kvasir.mpi;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The collective over MPI, among real processes of every library that is installed. */
@Timeout(900)
class MpiCollectiveTest {

  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  /** By when all processes must have ended after a member's death. */
  private static final Duration LATEST = TIMEOUT.plusSeconds(60);

  private static final String LONG_MS = "60000";

  @TempDir private Path folder;

  private MpiRun start(String library, int count, String what, String timeoutMs)
      throws IOException {
    return MpiRun.start(
        library,
        count,
        folder,
        Map.of(),
        "io.kvasir.mpi.MpiMember",
        what,
        folder.toString(),
        timeoutMs);
  }

  private MpiRun.End run(String library, int count, String what) throws Exception {
    try (MpiRun run = start(library, count, what, LONG_MS)) {
      return run.await();
    }
  }

  @ParameterizedTest
  @CsvSource({"openmpi,2", "mpich,2", "openmpi,3", "mpich,3"})
  void everyMemberGetsTheFramesOfAllInOrder(String library, int count) throws Exception {
    MpiRun.End end = run(library, count, "scenarios");
    assertThat(end.output().lines().filter("ended"::equals)).as(end.output()).hasSize(count);
    assertThat(end.exitCode()).as(end.output()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"openmpi", "mpich"})
  void nullsAreStillExceptions(String library) throws Exception {
    MpiRun.End end = run(library, 2, "nulls");
    assertThat(end.output().lines().filter("ended"::equals)).as(end.output()).hasSize(2);
    assertThat(end.exitCode()).as(end.output()).isZero();
  }

  @ParameterizedTest
  @CsvSource({"openmpi,KILL", "mpich,KILL", "openmpi,STOP", "mpich,STOP"})
  void withoutAMemberAllEndAndNameIt(String library, String signal) throws Exception {
    String timeoutMs = Long.toString(TIMEOUT.toMillis());
    try (MpiRun run = start(library, 3, "endless", timeoutMs)) {
      Path pid = folder.resolve("pid-1");
      for (int i = 0; i < 6_000 && !(Files.exists(pid) && Files.size(pid) > 0); i++) {
        Thread.sleep(10);
      }
      Thread.sleep(500); // so that members gather
      String member = Files.readString(pid);
      assertThat(new ProcessBuilder("kill", "-" + signal, member).start().waitFor()).isZero();
      long startNs = System.nanoTime();
      MpiRun.End end = run.await();
      assertThat(Duration.ofNanos(System.nanoTime() - startNs)).as(end.output()).isLessThan(LATEST);
      assertThat(end.exitCode()).as(end.output()).isNotZero();
      if (signal.equals("STOP")) {
        assertThat(end.output())
            .contains("[member 1 (rank 1)] was silent for too long; MPI ends all processes");
      } else if (library.equals("openmpi")) {
        assertThat(end.output()).contains("rank 1"); // the launcher is faster than members
      } else {
        assertThat(end.output()).contains("BAD TERMINATION"); // of a process that it has killed too
      }
      while (ProcessHandle.of(Long.parseLong(member)).filter(ProcessHandle::isAlive).isPresent()) {
        assertThat(Duration.ofNanos(System.nanoTime() - startNs)).isLessThan(LATEST);
        Thread.sleep(10);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"openmpi", "mpich"})
  void aMemberThatLeavesEarlyIsNamed(String library) throws Exception {
    MpiRun.End end = run(library, 2, "leaves");
    assertThat(end.exitCode()).as(end.output()).isNotZero();
    assertThat(end.output()) // whichever comes first
        .containsAnyOf(
            "member 1 (rank 1) has left early; MPI ends all processes",
            "process 1 leaves while process 0 does not")
        .doesNotContain("ended");
  }

  @ParameterizedTest
  @ValueSource(strings = {"openmpi", "mpich"})
  void anExceptionOfOneMemberEndsAll(String library) throws Exception {
    MpiRun.End end = run(library, 2, "throws");
    assertThat(end.exitCode()).as(end.output()).isNotZero();
    assertThat(end.output()).contains("member 1 fails on its own").doesNotContain("ended");
  }

  @ParameterizedTest
  @ValueSource(strings = {"openmpi", "mpich"})
  void membersOfOtherSettingsAreNamed(String library) throws Exception {
    MpiRun.End end = run(library, 2, "settings");
    assertThat(end.exitCode()).as(end.output()).isNotZero();
    assertThat(end.output()).contains("its settings or its workload differ from those of member 0");
  }

  @ParameterizedTest
  @CsvSource({"openmpi,mpich,Open MPI", "mpich,openmpi,MPICH"})
  void theLauncherOfAnotherLibraryIsNamed(String launcher, String compiler, String name)
      throws Exception {
    MpiRun.assumeInstalled(compiler);
    try (MpiRun run =
        MpiRun.start(
            launcher,
            2,
            folder,
            Map.of(MpiShim.COMPILER, "mpicc." + compiler),
            "io.kvasir.mpi.MpiMember",
            "nulls",
            folder.toString(),
            LONG_MS)) {
      MpiRun.End end = run.await();
      assertThat(end.exitCode()).as(end.output()).isNotZero();
      assertThat(end.output())
          .contains(name + " has started 2 processes, but ")
          .contains(" finds 1: the launcher belongs to another MPI library");
    }
  }
}
