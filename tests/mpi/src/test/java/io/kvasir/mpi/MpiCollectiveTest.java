package io.kvasir.mpi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.kvasir.testing.harness.Await;
import io.kvasir.testing.harness.ChildProcess;
import io.kvasir.testing.harness.LongRuns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The collective over MPI, among real processes. Each library that is installed and each fault is
 * there once, and all faults with all libraries in the long form.
 */
@Tag("process")
class MpiCollectiveTest {

  /** Far more than members of a busy machine need for a gather: only a stopped one is silent. */
  private static final long SILENT_MS = Await.limitMs() / 12;

  @TempDir private Path folder;

  private static List<String> openMpiFirst() {
    return LongRuns.cases(List.of("openmpi"), List.of("mpich"));
  }

  private static List<String> mpichFirst() {
    return LongRuns.cases(List.of("mpich"), List.of("openmpi"));
  }

  private ChildProcess start(String library, int count, String what) throws IOException {
    return start(library, count, what, Await.limitMs());
  }

  private ChildProcess start(String library, int count, String what, long timeoutMs)
      throws IOException {
    return start(library, count, Map.of(), what, timeoutMs);
  }

  private ChildProcess start(
      String library, int count, Map<String, String> variables, String what, long timeoutMs)
      throws IOException {
    return MpiRun.start(
        library,
        count,
        variables,
        MpiMember.class.getName(),
        what,
        folder.toString(),
        Long.toString(timeoutMs));
  }

  private static void assertAllEnd(ChildProcess run, int count) {
    assertThat(run.exitCode()).as(run.output()).isZero();
    assertThat(run.output().lines().filter("ended"::equals)).as(run.output()).hasSize(count);
  }

  private static void assertFails(ChildProcess run) {
    assertThat(run.exitCode()).as(run.output()).isNotZero();
  }

  private static List<Arguments> groups() {
    return LongRuns.cases(
        List.of(arguments("openmpi", 3), arguments("mpich", 2)),
        List.of(arguments("openmpi", 2), arguments("mpich", 3)));
  }

  @ParameterizedTest
  @MethodSource("groups")
  void everyMemberGetsTheFramesOfAllInOrder(String library, int count) throws Exception {
    try (ChildProcess run = start(library, count, "scenarios")) {
      assertAllEnd(run, count);
    }
  }

  @ParameterizedTest
  @MethodSource("openMpiFirst")
  void nullsAreStillExceptions(String library) throws Exception {
    try (ChildProcess run = start(library, 2, "nulls")) {
      assertAllEnd(run, 2);
    }
  }

  @ParameterizedTest
  @MethodSource("openMpiFirst")
  void aKilledMemberEndsAllAndIsNamed(String library) throws Exception {
    try (ChildProcess run = start(library, 3, "endless")) {
      long member = gathering(run);
      ChildProcess.signal("KILL", member);
      assertFails(run);
      assertThat(run.output()) // the launchers are faster than members
          .contains(library.equals("openmpi") ? "rank 1" : "BAD TERMINATION");
      awaitEnd(member);
    }
  }

  @ParameterizedTest
  @MethodSource("mpichFirst")
  void aStoppedMemberEndsAllAndIsNamed(String library) throws Exception {
    try (ChildProcess run = start(library, 3, "endless", SILENT_MS)) {
      long member = gathering(run);
      ChildProcess.signal("STOP", member);
      assertFails(run);
      assertThat(run.output())
          .contains("[member 1 (rank 1)] was silent for too long; MPI ends all processes");
      awaitEnd(member);
    }
  }

  /** Waits until all members gather; returns the process id of member 1. */
  private long gathering(ChildProcess run) throws IOException {
    run.await(
        "gathering", () -> run.output().lines().filter(MpiMember.GATHERING::equals).count() == 3);
    return Long.parseLong(Files.readString(folder.resolve("pid-1")));
  }

  private static void awaitEnd(long pid) {
    Await.until(
        "the end of process " + pid,
        () -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
  }

  @ParameterizedTest
  @MethodSource("mpichFirst")
  void aMemberThatLeavesEarlyIsNamed(String library) throws Exception {
    try (ChildProcess run = start(library, 2, "leaves")) {
      assertFails(run);
      assertThat(run.output()) // whichever comes first
          .containsAnyOf(
              "member 1 (rank 1) has left early; MPI ends all processes",
              "process 1 leaves while process 0 does not")
          .doesNotContain("ended");
    }
  }

  @ParameterizedTest
  @MethodSource("openMpiFirst")
  void anExceptionOfOneMemberEndsAll(String library) throws Exception {
    try (ChildProcess run = start(library, 2, "throws")) {
      assertFails(run);
      assertThat(run.output()).contains("member 1 fails on its own").doesNotContain("ended");
    }
  }

  @ParameterizedTest
  @MethodSource("mpichFirst")
  void membersOfOtherSettingsAreNamed(String library) throws Exception {
    try (ChildProcess run = start(library, 2, "settings")) {
      assertFails(run);
      assertThat(run.output())
          .contains("its settings or its workload differ from those of member 0");
    }
  }

  private static List<Arguments> foreignLaunchers() {
    return LongRuns.cases(
        List.of(arguments("openmpi", "mpich", "Open MPI")),
        List.of(arguments("mpich", "openmpi", "MPICH")));
  }

  @ParameterizedTest
  @MethodSource("foreignLaunchers")
  void theLauncherOfAnotherLibraryIsNamed(String launcher, String compiler, String name)
      throws Exception {
    MpiRun.assumeInstalled(compiler);
    Map<String, String> other = Map.of(MpiShim.COMPILER, "mpicc." + compiler);
    try (ChildProcess run = start(launcher, 2, other, "nulls", Await.limitMs())) {
      assertFails(run);
      assertThat(run.output())
          .contains(name + " has started 2 processes, but ")
          .contains(" finds 1: the launcher belongs to another MPI library");
    }
  }
}
