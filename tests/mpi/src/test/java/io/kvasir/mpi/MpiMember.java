package io.kvasir.mpi;

import io.kvasir.engine.lockstep.GroupSettings;
import io.kvasir.engine.lockstep.Launch;
import io.kvasir.engine.lockstep.LockstepException;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.ProcessGroup;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.testing.lockstep.CollectiveScenario;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * A process that mpirun starts: {@code MpiMember WHAT FOLDER TIMEOUT_MS}. Exits with 3 after a
 * {@link LockstepException}, whose message it prints.
 */
final class MpiMember {

  static final int LOCKSTEP_FAILED = 3;

  /** What a member prints once it has gathered, if it does so until it is ended. */
  static final String GATHERING = "gathering";

  private MpiMember() {}

  public static void main(String[] arguments) throws Exception {
    try {
      run(arguments[0], Path.of(arguments[1]), Duration.ofMillis(Long.parseLong(arguments[2])));
    } catch (LockstepException | IOException e) {
      System.out.println(e.getMessage());
      System.out.flush();
      System.exit(LOCKSTEP_FAILED);
    }
  }

  private static void run(String what, Path folder, Duration timeout) throws Exception {
    Optional<Launch> launch = Launch.of(System.getenv());
    try (ProcessGroup processes = new MpiProvider().open(launch)) {
      Files.writeString(
          folder.resolve("pid-" + processes.rank()), Long.toString(ProcessHandle.current().pid()));
      switch (what) {
        case "scenarios" -> {
          for (CollectiveScenario scenario : CollectiveScenario.values()) {
            try (RankCollective collective = processes.form(settings(processes, timeout, 1))) {
              scenario.run(collective);
            }
          }
        }
        case "nulls" -> {
          catchNulls();
          gather(processes, timeout, 100);
        }
        case "endless" -> gatherForever(processes, timeout);
        case "leaves" -> gather(processes, timeout, processes.rank() == 1 ? 10 : 1_000);
        case "settings" ->
            processes.form(settings(processes, timeout, processes.rank() == 1 ? 2 : 1));
        case "throws" -> {
          gather(processes, timeout, 10);
          if (processes.rank() == 1) {
            throw new LockstepException("member 1 fails on its own");
          }
          gather(processes, timeout, 1_000);
        }
        default -> throw new IllegalArgumentException(what);
      }
    }
    System.out.println("ended");
  }

  private static GroupSettings settings(
      ProcessGroup processes, Duration timeout, long configuration) {
    return new GroupSettings(
        "test",
        1,
        configuration,
        Member.evenly(processes.size(), processes.size()),
        timeout,
        CollectiveScenario.MAX_BYTES);
  }

  private static void gather(ProcessGroup processes, Duration timeout, int gathers) {
    try (RankCollective collective = processes.form(settings(processes, timeout, 1))) {
      for (int i = 0; i < gathers; i++) {
        collective.gather(ByteBuffer.allocate(i % 300));
      }
    }
  }

  private static void gatherForever(ProcessGroup processes, Duration timeout) {
    try (RankCollective collective = processes.form(settings(processes, timeout, 1))) {
      collective.gather(ByteBuffer.allocate(1));
      System.out.println(GATHERING);
      while (true) {
        collective.gather(ByteBuffer.allocate(1));
      }
    }
  }

  /** The compiled code finds null through SIGSEGV, as long as the JVM has its handler. */
  private static void catchNulls() {
    int caught = 0;
    Object[] objects = {"text", null};
    for (int i = 0; i < 200_000; i++) {
      try {
        caught += hash(objects[i % 1_000 == 0 ? 1 : 0]) & 1;
      } catch (NullPointerException e) {
        caught++;
      }
    }
    if (caught < 200) {
      throw new AssertionError("caught " + caught);
    }
  }

  private static int hash(Object object) {
    return object.hashCode();
  }
}
