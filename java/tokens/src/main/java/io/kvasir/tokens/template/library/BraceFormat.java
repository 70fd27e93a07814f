package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.PythonRepr;
import io.kvasir.tokens.template.python.TemplateFault;
import java.util.Map;

/** {@code str.format()} with plain fields: by position, number or name. Stateless. */
final class BraceFormat {

  private BraceFormat() {}

  static String format(Budget budget, String format, Arguments arguments) {
    StringBuilder text = new StringBuilder();
    int next = 0;
    int at = 0;
    while (at < format.length()) {
      char c = format.charAt(at);
      boolean doubled = at + 1 < format.length() && format.charAt(at + 1) == c;
      if ((c == '{' || c == '}') && doubled) {
        text.append(c);
        at += 2;
      } else if (c == '{') {
        int end = format.indexOf('}', at);
        if (end < 0) {
          throw TemplateFault.error("expected '}' before end of string");
        }
        String field = format.substring(at + 1, end);
        Object value =
            field.isEmpty() && next >= 0
                ? positional(next++, arguments)
                : field(field, next, arguments);
        next = !field.isEmpty() && next == 0 && isNumber(field) ? -1 : next;
        String part = PythonRepr.text(value, budget);
        budget.checkSize((long) text.length() + part.length());
        budget.work(part.length());
        text.append(part);
        at = end + 1;
      } else if (c == '}') {
        throw TemplateFault.error("Single '}' encountered in format string");
      } else {
        text.append(c);
        at++;
      }
    }
    return text.toString();
  }

  private static boolean isNumber(String field) {
    return field.chars().allMatch(c -> c >= '0' && c <= '9');
  }

  private static Object field(String field, int next, Arguments arguments) {
    if (isNumber(field)) {
      if (field.isEmpty() || next > 0) {
        throw TemplateFault.error("cannot mix automatic and manual field numbers");
      }
      return positional(
          field.length() > 6 ? Integer.MAX_VALUE : Integer.parseInt(field), arguments);
    }
    if (!field.matches("[A-Za-z_][A-Za-z_0-9]*")) {
      throw TemplateFault.unsupported("field {" + field + "} in a format");
    }
    Map<String, Object> named = arguments.named();
    Object value = named.get(field);
    if (value == null) {
      throw TemplateFault.error("KeyError: " + PythonRepr.quoted(field));
    }
    return value;
  }

  private static Object positional(int index, Arguments arguments) {
    if (index >= arguments.positional().size()) {
      throw TemplateFault.error("Replacement index out of range for positional args");
    }
    return arguments.positional().get(index);
  }
}
