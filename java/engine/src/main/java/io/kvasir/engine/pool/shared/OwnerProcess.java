package io.kvasir.engine.pool.shared;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Identity of a process, so that another one can tell that it is gone, and not merely that its
 * number is in use.
 *
 * <p>Immutable. Read from {@code /proc}; what cannot be read is 0, and then nothing is concluded.
 *
 * @param pid its number
 * @param startTicks when it was started, in clock ticks since boot
 * @param pidNamespace the name space that the number belongs to; containers have their own
 */
record OwnerProcess(long pid, long startTicks, long pidNamespace) {

  /** Places of the state and the start time behind the command in {@code /proc/PID/stat}. */
  private static final int STATE = 0;

  private static final int START = 19;

  static OwnerProcess current() {
    long pid = ProcessHandle.current().pid();
    long startTicks = 0;
    try {
      startTicks = Long.parseLong(stat(pid)[START]);
    } catch (IOException | RuntimeException e) {
      // Without the start time a reader relies on the heartbeat alone.
    }
    return new OwnerProcess(pid, startTicks, currentNamespace());
  }

  /**
   * Whether the process surely runs no more. False when that cannot be known from here. Reads one
   * small file.
   */
  boolean gone() {
    if (startTicks == 0 || pidNamespace == 0 || pidNamespace != currentNamespace()) {
      return false;
    }
    try {
      String[] stat = stat(pid);
      return stat[STATE].equals("Z")
          || stat[STATE].equals("X")
          || Long.parseLong(stat[START]) != startTicks;
    } catch (NoSuchFileException e) {
      return true;
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  private static String[] stat(long pid) throws IOException {
    String line = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
    return line.substring(line.lastIndexOf(')') + 2).split(" ", -1);
  }

  private static long currentNamespace() {
    try {
      String name = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString();
      return Long.parseLong(name.substring(name.indexOf('[') + 1, name.indexOf(']')));
    } catch (IOException | RuntimeException e) {
      return 0;
    }
  }
}
