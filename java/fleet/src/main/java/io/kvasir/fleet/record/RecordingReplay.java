package io.kvasir.fleet.record;

import io.kvasir.model.Checks;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;

/**
 * Plays the events of a recording with their original timing, faster or slower, or at once.
 * Stateless.
 */
public final class RecordingReplay {

  private static final double NS_PER_MS = 1e6;

  private RecordingReplay() {}

  /**
   * Speed and limits of a replay. Immutable.
   *
   * @param speed multiple of the recorded speed, above 0; infinite for as fast as possible
   * @param maxEvents events after which it ends; 0 for all
   * @param maxNs time after which it ends, in nanoseconds of the clock; 0 for no limit
   */
  public record Options(double speed, long maxEvents, long maxNs) {

    /** All events, with their original timing. */
    public static final Options AS_RECORDED = new Options(1, 0, 0);

    /** All events, at once. */
    public static final Options AS_FAST_AS_POSSIBLE = new Options(Double.POSITIVE_INFINITY, 0, 0);

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException naming the field that is out of range
     */
    public Options {
      if (!(speed > 0)) {
        throw new IllegalArgumentException("speed must be above 0, not " + speed);
      }
      Checks.atLeast("maxEvents", maxEvents, 0);
      Checks.atLeast("maxNs", maxNs, 0);
    }
  }

  /** A clock that can sleep. */
  public interface Clock {

    /** The system's clock. */
    Clock SYSTEM =
        new Clock() {
          @Override
          public long nanoTime() {
            return System.nanoTime();
          }

          @Override
          public void sleepUntil(long deadlineNs) throws InterruptedException {
            long leftNs = deadlineNs - System.nanoTime();
            while (leftNs > 0) {
              LockSupport.parkNanos(this, leftNs);
              if (Thread.interrupted()) {
                throw new InterruptedException("interrupted between two events");
              }
              leftNs = deadlineNs - System.nanoTime();
            }
          }
        };

    /** {@return the time in nanoseconds from any origin} */
    long nanoTime();

    /**
     * Sleeps.
     *
     * @param deadlineNs wakes when {@link #nanoTime} reaches this
     * @throws InterruptedException if the thread is interrupted
     */
    void sleepUntil(long deadlineNs) throws InterruptedException;
  }

  /** Receives the events. */
  public interface Sink {

    /**
     * Takes an event.
     *
     * @param event the next one
     * @throws IOException if it cannot be passed on
     */
    void accept(RecordedEvent event) throws IOException;
  }

  /**
   * Plays a recording from the reader's position. A timestamp that decreases marks an appended
   * recording, which continues without a pause. Blocks.
   *
   * @param reader the recording
   * @param options speed and limits
   * @param clock the clock to follow
   * @param sink receives the events on the calling thread
   * @return number of events delivered
   * @throws IOException if the recording cannot be read or the sink fails
   * @throws InterruptedException if the thread is interrupted between two events
   */
  public static long run(RecordingReader reader, Options options, Clock clock, Sink sink)
      throws IOException, InterruptedException {
    long startNs = clock.nanoTime();
    long originNs = 0; // this and the next times: since the start
    long originMs = 0;
    long lastMs = 0;
    long sent = 0;
    while (options.maxEvents() == 0 || sent < options.maxEvents()) {
      RecordedEvent event = reader.next();
      if (event == null) {
        return sent;
      }
      long nowNs = clock.nanoTime() - startNs;
      if (event.timestampMs() < lastMs) {
        originNs = nowNs;
        originMs = event.timestampMs();
      }
      lastMs = event.timestampMs();
      long afterNs = (long) ((lastMs - originMs) * NS_PER_MS / options.speed());
      long dueNs = originNs + Math.min(afterNs, Long.MAX_VALUE - originNs);
      if (options.maxNs() > 0 && Math.max(dueNs, nowNs) >= options.maxNs()) {
        return sent;
      }
      if (dueNs > nowNs) {
        clock.sleepUntil(startNs + dueNs);
      }
      sink.accept(event);
      sent++;
    }
    return sent;
  }
}
