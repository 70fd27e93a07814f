package io.kvasir.engine.device;

import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.Stream;

/** Work in order, which is carried out only when {@link ShimDevice} says so. */
final class ShimStream implements DeviceApi.Stream {

  /** A place in a stream's work, behind the first so many pieces. */
  static final class Mark implements DeviceApi.Event {
    private final boolean timed;
    private ShimStream stream;
    private long position;
    private long passedNs;
    private boolean passed;

    Mark(boolean timed) {
      this.timed = timed;
    }

    boolean timed() {
      return timed;
    }

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

  /** A piece of work and the words among its arguments that may be addresses. */
  private record Work(Runnable body, List<Long> addresses) {}

  private final ArrayDeque<Work> waiting = new ArrayDeque<>();
  private long submitted;
  private long done;

  void submit(Runnable body, Long... addresses) {
    waiting.add(new Work(body, List.of(addresses)));
    submitted++;
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

  /** How many pieces of work wait. */
  int pending() {
    return waiting.size();
  }

  /** What the waiting work may use first. */
  Stream<List<Long>> addresses() {
    return waiting.stream().map(Work::addresses);
  }

  void run(int pieces) {
    runUntil(done + pieces);
  }

  void runAll() {
    runUntil(submitted);
  }

  private void runUntil(long position) {
    while (done < position) {
      done++;
      waiting.remove().body().run();
    }
  }
}
