package io.kvasir.fleet.record;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A process that crashes while it records: it never closes its recorder, and runs no hooks. */
final class RecorderProcess {

  static final int DIED = 9;

  private RecorderProcess() {}

  /**
   * Records to the first argument's file until the event numbered by the second argument is
   * written.
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    RecorderOptions options =
        new RecorderOptions(2048, 0, TimeUnit.MILLISECONDS.toNanos(1), 0, 0, false);
    EventRecorder recorder = EventRecorder.open(Path.of(args[0]), options);
    long wanted = Long.parseLong(args[1]);
    for (int i = 0; recorder.stats().written() < wanted; i++) {
      recorder.recordWaiting(JsonEvent.ofJson("{\"number\":" + i + "}"));
    }
    Runtime.getRuntime().halt(DIED);
  }
}
