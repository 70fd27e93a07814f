package io.kvasir.engine.pool.shared;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Identity of a process, by which another process can detect that it has ended even if its number
 * has been reused.
 *
 * <p>Immutable. Read from {@code /proc}. A field that cannot be read is 0; the process then never
 * counts as ended.
 *
 * @param pid the process number
 * @param startTicks start time in clock ticks since boot
 * @param pidNamespace the PID namespace of the number; each container has its own
 */
record OwnerProcess(long pid, long startTicks, long pidNamespace) {

  /** Index of the state after the command in {@code /proc/PID/stat}. */
  private static final int STATE = 0;

  /** Index of the start time after the command. */
  private static final int START = 19;

  static OwnerProcess current() {
    long pid = ProcessHandle.current().pid();
    long startTicks = 0;
    try {
      startTicks = Long.parseLong(stat(pid)[START]);
    } catch (IOException | RuntimeException e) {
      // Without the start time, readers rely on the heartbeat only.
    }
    return new OwnerProcess(pid, startTicks, currentNamespace());
  }

  /**
   * Whether the process has certainly ended. False if this process cannot determine it. Reads one
   * small file.
   */
  boolean hasEnded() {
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
