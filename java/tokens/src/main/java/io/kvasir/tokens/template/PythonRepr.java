package io.kvasir.tokens.template;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Values as text: {@code str()} and {@code repr()}. Stateless. */
final class PythonRepr {

  /** Python refuses to write longer integers in decimal. */
  private static final int LONGEST_INTEGER = 4300;

  private PythonRepr() {}

  /** {@code str()}. */
  static String text(Object value, Run run) {
    if (value instanceof String text) {
      return text;
    }
    if (value instanceof Markup markup) {
      return markup.text();
    }
    return value instanceof Undefined ? "" : of(value, run);
  }

  /** {@code repr()}. */
  static String of(Object value, Run run) {
    StringBuilder text = new StringBuilder();
    append(text, value, run, 0);
    return text.toString();
  }

  private static void append(StringBuilder text, Object value, Run run, int depth) {
    run.step();
    run.checkSize(text.length());
    if (value instanceof String string) {
      run.work(string.length());
      text.append(quoted(string));
    } else if (value instanceof Boolean truth) {
      text.append(truth ? "True" : "False");
    } else if (value instanceof Long) {
      text.append(value);
    } else if (value instanceof BigInteger large) {
      text.append(decimal(large));
    } else if (value instanceof Double number) {
      text.append(number(number));
    } else if (value instanceof List<?>) {
      items(text.append('['), PythonValues.iterator(value), run, depth).append(']');
    } else if (value instanceof Map<?, ?> map) {
      entries(text, map, run, depth);
    } else if (value instanceof PythonTuple tuple) {
      items(text.append('('), tuple.items().iterator(), run, depth);
      text.append(tuple.items().size() == 1 ? ",)" : ")");
    } else if (value instanceof DictView view) {
      text.append(view.typeName()).append("([");
      items(text, view.iterator(), run, depth).append("])");
    } else {
      PythonValues.checkDepth(run.enter());
      text.append(((PythonValue) value).repr(run));
      run.leave();
    }
  }

  private static StringBuilder items(
      StringBuilder text, Iterator<Object> items, Run run, int depth) {
    PythonValues.checkDepth(depth);
    boolean first = true;
    while (items.hasNext()) {
      text.append(first ? "" : ", ");
      first = false;
      append(text, items.next(), run, depth + 1);
    }
    return text;
  }

  private static void entries(StringBuilder text, Map<?, ?> map, Run run, int depth) {
    PythonValues.checkDepth(depth);
    text.append('{');
    boolean first = true;
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      text.append(first ? "" : ", ");
      first = false;
      append(text, PythonValues.of(entry.getKey()), run, depth + 1);
      text.append(": ");
      append(text, PythonValues.of(entry.getValue()), run, depth + 1);
    }
    text.append('}');
  }

  static String decimal(BigInteger number) {
    String digits = number.toString();
    if (digits.length() - (number.signum() < 0 ? 1 : 0) > LONGEST_INTEGER) {
      throw TemplateFault.error("Exceeds the limit for integer string conversion");
    }
    return digits;
  }

  /** A string literal. */
  static String quoted(String text) {
    char quote = text.indexOf('\'') >= 0 && text.indexOf('"') < 0 ? '"' : '\'';
    StringBuilder quoted = new StringBuilder(text.length() + 2).append(quote);
    for (int i = 0; i < text.length(); i += Character.charCount(text.codePointAt(i))) {
      int c = text.codePointAt(i);
      switch (c) {
        case '\\' -> quoted.append("\\\\");
        case '\n' -> quoted.append("\\n");
        case '\r' -> quoted.append("\\r");
        case '\t' -> quoted.append("\\t");
        default -> {
          if (c == quote) {
            quoted.append('\\').append(quote);
          } else if (PythonText.isPrintable(c)) {
            quoted.appendCodePoint(c);
          } else {
            quoted.append(
                String.format(c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c));
          }
        }
      }
    }
    return quoted.append(quote).toString();
  }

  /** The shortest decimal number that reads as the same double. */
  static String number(double number) {
    if (Double.isNaN(number)) {
      return "nan";
    }
    if (Double.isInfinite(number)) {
      return number > 0 ? "inf" : "-inf";
    }
    if (number == 0) {
      return 1 / number < 0 ? "-0.0" : "0.0";
    }
    BigDecimal exact = new BigDecimal(Math.abs(number));
    BigDecimal shortest = exact;
    for (int digits = 1; digits <= 17; digits++) {
      shortest = exact.round(new MathContext(digits));
      if (shortest.doubleValue() == Math.abs(number)) {
        break;
      }
    }
    shortest = shortest.stripTrailingZeros();
    String digits = shortest.unscaledValue().toString();
    int exponent = digits.length() - shortest.scale() - 1;
    return (number < 0 ? "-" : "") + placed(digits, exponent);
  }

  private static String placed(String digits, int exponent) {
    if (exponent < -4 || exponent >= 16) {
      String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
      String power = String.format("%s%02d", exponent < 0 ? "-" : "+", Math.abs(exponent));
      return digits.charAt(0) + fraction + "e" + power;
    }
    if (exponent < 0) {
      return "0." + "0".repeat(-exponent - 1) + digits;
    }
    if (digits.length() <= exponent + 1) {
      return digits + "0".repeat(exponent + 1 - digits.length()) + ".0";
    }
    return digits.substring(0, exponent + 1) + "." + digits.substring(exponent + 1);
  }
}
