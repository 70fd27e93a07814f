package io.kvasir.fleet.record;

import io.kvasir.testing.harness.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A process that crashes, or is killed, while it records: it never closes its recorder, and runs no
 * hooks.
 */
final class RecorderProcess {

  static final int DIED = 9;
  static final String RECORDING = "recording";

  private RecorderProcess() {}

  static ChildProcess start(Path file, long wanted) throws IOException {
    ProcessBuilder process =
        new ProcessBuilder(
            ProcessHandle.current().info().command().orElse("java"),
            "-cp",
            System.getProperty("java.class.path"),
            RecorderProcess.class.getName(),
            file.toString(),
            Long.toString(wanted));
    return ChildProcess.start("recorder", process.redirectErrorStream(true));
  }

  /**
   * Records to the first argument's file until the event numbered by the second argument is
   * written. Prints {@link #RECORDING} once it has opened the file.
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    RecorderOptions options =
        new RecorderOptions(2048, 0, TimeUnit.MILLISECONDS.toNanos(1), 0, 0, 0, false);
    EventRecorder recorder = EventRecorder.open(Path.of(args[0]), options);
    System.out.println(RECORDING);
    long wanted = Long.parseLong(args[1]);
    for (int i = 0; recorder.stats().written() < wanted; i++) {
      recorder.recordWaiting(JsonEvent.ofJson("{\"number\":" + i + "}"));
    }
    Runtime.getRuntime().halt(DIED);
  }
}
