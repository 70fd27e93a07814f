package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.library.Functions;
import io.kvasir.tokens.template.library.PythonCallable;
import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import java.time.Clock;
import java.util.Map;

/** One rendering: its variables, its output and its place in the template. Not thread-safe. */
final class RenderState {

  private final Map<String, ?> variables;
  private final PythonCallable strftime;
  private final Budget budget;
  private StringBuilder output = new StringBuilder();
  private int at = TemplateFault.NOWHERE;

  RenderState(Map<String, ?> variables, Clock clock, Budget budget) {
    this.variables = variables;
    this.strftime = Functions.strftime(clock);
    this.budget = budget;
  }

  Budget budget() {
    return budget;
  }

  /** A variable of the caller's, or a function of every template's. */
  Object variable(String name) {
    Object value = variables.get(name);
    if (value != null || variables.containsKey(name)) {
      return PythonValues.of(value);
    }
    return name.equals(Functions.STRFTIME) ? strftime : Functions.named(name);
  }

  /** Notes where in the template the rendering is, for messages. */
  void at(int offset) {
    at = offset;
  }

  int at() {
    return at;
  }

  void write(String text) {
    budget.checkSize((long) output.length() + text.length());
    budget.work(text.length());
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
