package io.kvasir.tokens.template;

import java.time.Clock;
import java.util.Map;
import java.util.function.LongSupplier;

/** One rendering: its variables, its output and what it may still use up. Not thread-safe. */
final class Run {

  private static final int STEPS_BETWEEN_LOOKS = 1024;

  private final Map<String, ?> variables;
  private final TemplateLimits limits;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final long start;
  private StringBuilder output = new StringBuilder();
  private long steps;
  private long stepsAtNextLook = STEPS_BETWEEN_LOOKS;
  private int depth;
  private int at = TemplateFault.NOWHERE;

  /**
   * @param nanoTime counts the time that it takes
   */
  Run(Map<String, ?> variables, TemplateLimits limits, Clock clock, LongSupplier nanoTime) {
    this.variables = variables;
    this.limits = limits;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.start = nanoTime.getAsLong();
  }

  Clock clock() {
    return clock;
  }

  /** A variable of the caller's, or a function of every template's. */
  Object variable(String name) {
    Object value = variables.get(name);
    if (value != null || variables.containsKey(name)) {
      return PythonValues.of(value);
    }
    return Functions.named(name);
  }

  /** Notes where in the template the rendering is, for messages. */
  void at(int offset) {
    at = offset;
  }

  int at() {
    return at;
  }

  /** Counts one step. */
  void step() {
    if (++steps > limits.steps()) {
      throw TemplateFault.limit("rendering takes more than " + limits.steps() + " steps");
    }
    if (steps >= stepsAtNextLook) {
      stepsAtNextLook = steps + STEPS_BETWEEN_LOOKS;
      checkTime();
    }
  }

  private void checkTime() {
    if (nanoTime.getAsLong() - start > limits.time().toNanos()) {
      throw TemplateFault.limit(
          "rendering takes more than " + limits.time().toMillis() + " milliseconds");
    }
  }

  /** Counts work on characters or items. */
  void work(long size) {
    steps += size >> 4;
    step();
  }

  /** Refuses a string or list that is too long. */
  void checkSize(long size) {
    if (size > limits.outputCharacters()) {
      throw TemplateFault.limit(
          "text or a list is longer than " + limits.outputCharacters() + " characters or items");
    }
  }

  /** Enters a call, and returns how many are open. */
  int enter() {
    if (++depth > limits.nesting()) {
      throw TemplateFault.limit("calls are nested more than " + limits.nesting() + " deep");
    }
    return depth;
  }

  void leave() {
    depth--;
  }

  void write(String text) {
    checkSize((long) output.length() + text.length());
    work(text.length());
    output.append(text);
  }

  /** Directs output to a buffer, and returns the former one for {@link #captured}. */
  StringBuilder capture() {
    StringBuilder former = output;
    output = new StringBuilder();
    return former;
  }

  /** Ends {@link #capture}, and returns what was written. */
  String captured(StringBuilder former) {
    String text = output.toString();
    output = former;
    return text;
  }

  String text() {
    return output.toString();
  }
}
