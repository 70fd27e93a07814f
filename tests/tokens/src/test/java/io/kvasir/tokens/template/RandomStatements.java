package io.kvasir.tokens.template;

import java.util.Random;

/** Writes random templates that assign few names in many kinds of scopes, and print them. */
final class RandomStatements {

  /** The variables of the caller. */
  static final String VARIABLES = "{\"a\": \"A\", \"b\": \"B\", \"l\": [1, 2], \"t\": true}";

  private static final String[] NAMES = {"a", "b", "c", "d"};

  private final Random random;
  private int macros;

  RandomStatements(Random random) {
    this.random = random;
  }

  private String name() {
    return NAMES[random.nextInt(NAMES.length)];
  }

  private String value() {
    return switch (random.nextInt(5)) {
      case 0 -> "'" + random.nextInt(9) + "'";
      case 1 -> name() + " ~ '" + random.nextInt(9) + "'";
      case 2 -> name() + "|default('-')";
      default -> name();
    };
  }

  /** Statements, nested at most so deep. */
  String statements(int depth) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(4); i >= 0; i--) {
      text.append(statement(depth));
    }
    return text.toString();
  }

  private String statement(int depth) {
    if (depth == 0 || random.nextInt(4) == 0) {
      return switch (random.nextInt(3)) {
        case 0 -> "{% set " + name() + " = " + value() + " %}";
        case 1 -> "{{ " + value() + " }},";
        default -> "{{ loop.index if loop is defined }}" + "{{ " + name() + " is defined }},";
      };
    }
    String body = statements(depth - 1);
    String other = random.nextInt(3) == 0 ? "{% else %}" + statements(depth - 1) : "";
    return switch (random.nextInt(10)) {
      case 0, 1 -> "{% if " + condition() + " %}" + body + elif(depth) + other + "{% endif %}";
      case 2 -> "{% for " + name() + " in l %}" + body + leave() + other + "{% endfor %}";
      case 3 ->
          "{% for " + name() + " in l if " + condition() + " %}" + body + other + "{% endfor %}";
      case 4 -> "{% with " + name() + " = " + value() + " %}" + body + "{% endwith %}";
      case 5 -> "{% set " + name() + " %}" + body + "{% endset %}";
      case 6 -> "{% filter lower %}" + body + "{% endfilter %}";
      case 7 -> "{% generation %}" + body + "{% endgeneration %}";
      default -> macro(body);
    };
  }

  private String condition() {
    return switch (random.nextInt(3)) {
      case 0 -> "t";
      case 1 -> name() + " is defined";
      default -> name() + " == 1";
    };
  }

  private String elif(int depth) {
    return random.nextInt(3) == 0 ? "{% elif " + condition() + " %}" + statements(depth - 1) : "";
  }

  private String leave() {
    return random.nextInt(3) == 0
        ? "{% if "
            + condition()
            + " %}{% "
            + (random.nextBoolean() ? "break" : "continue")
            + " %}{% endif %}"
            + statements(0)
        : "";
  }

  private String macro(String body) {
    String macro = "m" + macros++;
    String parameter = name();
    String calls = random.nextBoolean() ? "{{ caller() if caller }}" : "";
    String call =
        random.nextBoolean()
            ? "{% call " + macro + "(" + value() + ") %}" + statements(1) + "{% endcall %}"
            : "{{ " + macro + "() }}";
    return "{% macro "
        + macro
        + "("
        + parameter
        + (random.nextBoolean() ? "=" + value() : "")
        + ") %}"
        + body
        + calls
        + "{% endmacro %}"
        + statements(0)
        + call;
  }
}
