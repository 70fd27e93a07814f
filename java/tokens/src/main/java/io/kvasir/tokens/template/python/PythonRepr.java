package io.kvasir.tokens.template.python;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Values as text: {@code str()} and {@code repr()}. Stateless. */
public final class PythonRepr {

  /** Python refuses to write longer integers in decimal. */
  private static final int LONGEST_INTEGER = 4300;

  /** What writing a float costs, as for so many characters. */
  static final int FLOAT_WORK = 64 * 16;

  /** Digits that decide on the shortest form, and one for what follows them. */
  private static final MathContext DECISIVE = new MathContext(20, RoundingMode.DOWN);

  private PythonRepr() {}

  /** {@code str()}. */
  public static String text(Object value, Budget budget) {
    if (value instanceof String text) {
      return text;
    }
    if (value instanceof Markup markup) {
      return markup.text();
    }
    return value instanceof Undefined ? "" : of(value, budget);
  }

  /** {@code repr()}. */
  public static String of(Object value, Budget budget) {
    StringBuilder text = new StringBuilder();
    append(text, value, budget, 0);
    return text.toString();
  }

  private static void append(StringBuilder text, Object value, Budget budget, int depth) {
    budget.step();
    budget.checkSize(text.length());
    if (value instanceof String string) {
      budget.work(string.length());
      text.append(quoted(string));
    } else if (value instanceof Boolean truth) {
      text.append(truth ? "True" : "False");
    } else if (value instanceof Long) {
      text.append(value);
    } else if (value instanceof BigInteger large) {
      text.append(decimal(large));
    } else if (value instanceof Double number) {
      budget.work(FLOAT_WORK);
      text.append(number(number));
    } else if (value instanceof List<?>) {
      items(text.append('['), PythonValues.iterator(value), budget, depth).append(']');
    } else if (value instanceof Map<?, ?> map) {
      entries(text, map, budget, depth);
    } else if (value instanceof PythonTuple tuple) {
      items(text.append('('), tuple.items().iterator(), budget, depth);
      text.append(tuple.items().size() == 1 ? ",)" : ")");
    } else if (value instanceof DictView view) {
      text.append(view.typeName()).append("([");
      items(text, view.iterator(), budget, depth).append("])");
    } else {
      PythonValues.checkDepth(budget.enter());
      text.append(((PythonValue) value).repr(budget));
      budget.leave();
    }
  }

  private static StringBuilder items(
      StringBuilder text, Iterator<Object> items, Budget budget, int depth) {
    PythonValues.checkDepth(depth);
    boolean first = true;
    while (items.hasNext()) {
      text.append(first ? "" : ", ");
      first = false;
      append(text, items.next(), budget, depth + 1);
    }
    return text;
  }

  private static void entries(StringBuilder text, Map<?, ?> map, Budget budget, int depth) {
    PythonValues.checkDepth(depth);
    text.append('{');
    boolean first = true;
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      text.append(first ? "" : ", ");
      first = false;
      append(text, PythonValues.of(entry.getKey()), budget, depth + 1);
      text.append(": ");
      append(text, PythonValues.of(entry.getValue()), budget, depth + 1);
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
  public static String quoted(String text) {
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
            quoted.append(c < 0x100 ? "\\x" : c < 0x10000 ? "\\u" : "\\U");
            hex(quoted, c, c < 0x100 ? 2 : c < 0x10000 ? 4 : 8);
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
    BigDecimal shortest = shortest(Math.abs(number)).stripTrailingZeros();
    String digits = shortest.unscaledValue().toString();
    int exponent = digits.length() - shortest.scale() - 1;
    return (number < 0 ? "-" : "") + placed(digits, exponent);
  }

  /** Each number of digits that reads as the same double has a longer one that does so, too. */
  private static BigDecimal shortest(double number) {
    BigDecimal exact = decisive(new BigDecimal(number));
    BigDecimal shortest = exact;
    int least = 1;
    int most = 17;
    while (least <= most) {
      int digits = (least + most) / 2;
      BigDecimal found = rounded(exact, digits, number);
      if (found == null) {
        least = digits + 1;
      } else {
        shortest = found;
        most = digits - 1;
      }
    }
    return shortest;
  }

  /** A shorter number, between the same ones of up to 17 digits and of their middles. */
  private static BigDecimal decisive(BigDecimal exact) {
    BigDecimal head = exact.round(DECISIVE);
    return exact.compareTo(head) == 0
        ? head
        : head.setScale(head.scale() + 1).add(BigDecimal.valueOf(1, head.scale() + 1));
  }

  /** The nearest number of some digits that reads as the double, null if there is none. */
  private static @Nullable BigDecimal rounded(BigDecimal exact, int digits, double number) {
    BigDecimal nearest = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
    if (nearest.doubleValue() == number) {
      return nearest;
    }
    // Behind a power of two, doubles are twice as far apart as before it.
    boolean up = nearest.compareTo(exact) < 0;
    BigDecimal other =
        exact.round(new MathContext(digits, up ? RoundingMode.UP : RoundingMode.DOWN));
    return other.doubleValue() == number ? other : null;
  }

  /** Appends so many digits. */
  static void hex(StringBuilder text, int number, int digits) {
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
      text.append(Character.forDigit((number >> shift) & 0xf, 16));
    }
  }

  private static String placed(String digits, int exponent) {
    if (exponent < -4 || exponent >= 16) {
      String fraction = digits.length() > 1 ? "." + digits.substring(1) : "";
      String sign = exponent < 0 ? "e-" : "e+";
      String zero = Math.abs(exponent) < 10 ? "0" : "";
      return digits.charAt(0) + fraction + sign + zero + Math.abs(exponent);
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
