package io.kvasir.cli.command;

import io.kvasir.cli.terminal.Console;
import io.kvasir.fleet.record.EventRecorder;
import io.kvasir.fleet.record.JsonEvent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Passes the lines of standard input to a recorder. A separate thread reads, so that a time limit
 * ends the recording even if no line arrives. The thread waits while the recorder's queue is full.
 * Used once.
 */
final class LinesIntoRecorder {

  private final Console console;
  private final EventRecorder recorder;
  private final CountDownLatch ended = new CountDownLatch(1);
  private final AtomicReference<IOException> failure = new AtomicReference<>();
  private volatile long invalid;

  LinesIntoRecorder(Console console, EventRecorder recorder) {
    this.console = console;
    this.recorder = recorder;
  }

  /** The number of lines that were not JSON objects. */
  long invalid() {
    return invalid;
  }

  /**
   * Reads until the input ends, the recording ends or the time is over.
   *
   * @param maxNs the time in nanoseconds; 0 is no limit
   * @throws IOException if the input cannot be read
   */
  void run(long maxNs) throws IOException, InterruptedException {
    Thread reader = new Thread(this::read, "kvasir-record-input");
    reader.setDaemon(true);
    reader.start();
    if (maxNs == 0) {
      ended.await();
    } else if (!ended.await(maxNs, TimeUnit.NANOSECONDS)) {
      return; // The reader may still wait for a line; that line is not recorded.
    }
    if (failure.get() != null) {
      throw failure.get();
    }
  }

  private void read() {
    try {
      BufferedReader lines =
          new BufferedReader(new InputStreamReader(console.in(), StandardCharsets.UTF_8));
      long number = 0;
      while (!recorder.ended()) {
        String line = lines.readLine();
        if (line == null) {
          return;
        }
        number++;
        if (!line.isBlank()) {
          record(number, line);
        }
      }
    } catch (IOException e) {
      failure.set(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      ended.countDown();
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // only this thread writes
  private void record(long number, String line) throws InterruptedException {
    JsonEvent event;
    try {
      event = JsonEvent.ofJson(line);
    } catch (IllegalArgumentException e) {
      invalid++;
      console.note("line " + number + ": " + e.getMessage());
      return;
    }
    boolean ignored = recorder.recordWaiting(event);
  }
}
