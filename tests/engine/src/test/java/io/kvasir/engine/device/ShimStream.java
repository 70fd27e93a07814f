package io.kvasir.engine.device;

import java.util.ArrayDeque;
import java.util.SplittableRandom;

/** Work in order. With lateness, some of it waits until somebody needs it done. */
final class ShimStream implements DeviceApi.Stream {

  /** A place in a stream's work, behind the first so many pieces. */
  static final class Mark implements DeviceApi.Event {
    private ShimStream stream;
    private long position;
    private long passedNs;
    private boolean passed;

    /** What carries out the work before the mark as it is now. */
    Runnable reach() {
      ShimStream marked = stream;
      long until = position;
      return () -> {
        if (marked != null) {
          marked.runUntil(until);
        }
      };
    }

    boolean passed() {
      return passed;
    }

    long passedNs() {
      return passedNs;
    }
  }

  private final SplittableRandom lateness;
  private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
  private long submitted;
  private long done;

  /**
   * A stream.
   *
   * @param lateness decides how much of the work waits; null if none does
   */
  ShimStream(SplittableRandom lateness) {
    this.lateness = lateness;
  }

  void submit(Runnable work) {
    waiting.add(work);
    submitted++;
    int behind = (int) (submitted - done);
    runUntil(lateness == null ? submitted : done + lateness.nextInt(behind + 1));
  }

  void record(Mark mark) {
    long position = submitted + 1;
    mark.stream = this;
    mark.position = position;
    mark.passed = false;
    submit(
        () -> {
          if (mark.stream == this && mark.position == position) {
            mark.passed = true;
            mark.passedNs = System.nanoTime();
          }
        });
  }

  void runAll() {
    runUntil(submitted);
  }

  private void runUntil(long position) {
    while (done < position) {
      done++;
      waiting.remove().run();
    }
  }
}
