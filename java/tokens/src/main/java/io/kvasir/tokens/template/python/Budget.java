package io.kvasir.tokens.template.python;

import java.time.Duration;
import java.util.function.LongSupplier;

/** What a rendering may still use up: steps, sizes, nesting and time. Not thread-safe. */
public final class Budget {

  private static final int STEPS_BETWEEN_LOOKS = 1024;

  private final long mostSteps;
  private final int longest;
  private final int deepest;
  private final Duration time;
  private final LongSupplier nanoTime;
  private final long start;
  private long steps;
  private long stepsAtNextLook = STEPS_BETWEEN_LOOKS;
  private int depth;

  /**
   * Starts the clock.
   *
   * @param longest text or list that may be made
   * @param deepest nesting of calls
   * @param nanoTime counts the time that it takes
   */
  public Budget(long mostSteps, int longest, int deepest, Duration time, LongSupplier nanoTime) {
    this.mostSteps = mostSteps;
    this.longest = longest;
    this.deepest = deepest;
    this.time = time;
    this.nanoTime = nanoTime;
    this.start = nanoTime.getAsLong();
  }

  /** Counts one step. */
  public void step() {
    if (++steps > mostSteps) {
      throw TemplateFault.limit("rendering takes more than " + mostSteps + " steps");
    }
    if (steps >= stepsAtNextLook) {
      stepsAtNextLook = steps + STEPS_BETWEEN_LOOKS;
      checkTime();
    }
  }

  private void checkTime() {
    if (nanoTime.getAsLong() - start > time.toNanos()) {
      throw TemplateFault.limit("rendering takes more than " + time.toMillis() + " milliseconds");
    }
  }

  /** Counts work on characters or items. */
  public void work(long size) {
    steps += size >> 4;
    step();
  }

  /** Refuses a string or list that is too long. */
  public void checkSize(long size) {
    if (size > longest) {
      throw TemplateFault.limit(
          "text or a list is longer than " + longest + " characters or items");
    }
  }

  /** Enters a call, and returns how many are open. */
  public int enter() {
    if (++depth > deepest) {
      throw TemplateFault.limit("calls are nested more than " + deepest + " deep");
    }
    return depth;
  }

  /** Leaves a call. */
  public void leave() {
    depth--;
  }
}
