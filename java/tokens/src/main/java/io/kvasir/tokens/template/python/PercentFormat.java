package io.kvasir.tokens.template.python;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The operator {@code %} of strings. Not thread-safe; for one use. */
public final class PercentFormat {

  private static final Pattern CONVERSION =
      Pattern.compile("%(?:\\(([^()]*)\\))?([-+ 0#]*)(\\d{0,6})(?:\\.(\\d{1,3}))?([a-zA-Z%])");

  private final Budget budget;
  private final Object values;
  private final Iterator<Object> remaining;
  private boolean byName;

  private PercentFormat(Budget budget, Object values) {
    this.budget = budget;
    this.values = values;
    this.remaining =
        values instanceof PythonTuple tuple ? tuple.items().iterator() : List.of(values).iterator();
  }

  public static String format(Budget budget, String format, Object values) {
    return new PercentFormat(budget, values).format(format);
  }

  private String format(String format) {
    budget.work(format.length());
    StringBuilder text = new StringBuilder();
    Matcher matcher = CONVERSION.matcher(format);
    int at = 0;
    while (at < format.length()) {
      int next = format.indexOf('%', at);
      if (next < 0) {
        break;
      }
      text.append(format, at, next);
      if (!matcher.region(next, format.length()).lookingAt()) {
        throw TemplateFault.unsupported("this use of % in a format");
      }
      text.append(converted(matcher));
      budget.checkSize(text.length());
      at = matcher.end();
    }
    boolean mapping =
        values instanceof Map
            || values instanceof List
            || values instanceof Undefined
            || values instanceof PythonRange
            || byName;
    if (remaining.hasNext() && !mapping) {
      throw TemplateFault.error("not all arguments converted during string formatting");
    }
    return text.append(format, at, format.length()).toString();
  }

  private String converted(Matcher matcher) {
    String flags = matcher.group(2);
    String width = matcher.group(3);
    char type = matcher.group(5).charAt(0);
    if (type == '%') {
      if (matcher.end() - matcher.start() > 2) {
        throw TemplateFault.unsupported("a % with flags in a format");
      }
      return "%";
    }
    Object value = value(matcher.group(1));
    int precision = matcher.group(4) == null ? -1 : Integer.parseInt(matcher.group(4));
    String text =
        switch (type) {
          case 's' -> cut(PythonRepr.text(value, budget), precision);
          case 'r' -> cut(PythonRepr.of(value, budget), precision);
          case 'd', 'i', 'u' -> integer(value, 10, precision, type);
          case 'x' -> integer(value, 16, precision, type);
          case 'X' -> PythonText.upper(integer(value, 16, precision, type));
          case 'o' -> integer(value, 8, precision, type);
          case 'f', 'F' -> fixed(value, precision < 0 ? 6 : precision);
          default -> throw TemplateFault.unsupported("%" + type + " in a format");
        };
    boolean number = type != 's' && type != 'r';
    return padded(text, flags, width.isEmpty() ? 0 : Integer.parseInt(width), number);
  }

  private Object value(String name) {
    if (name == null) {
      if (!remaining.hasNext()) {
        throw TemplateFault.error("not enough arguments for format string");
      }
      return remaining.next();
    }
    byName = true;
    if (!(values instanceof Map<?, ?> map)) {
      throw TemplateFault.error("format requires a mapping");
    }
    Object value = PythonValues.find(map, name);
    if (value == Missing.MISSING) {
      throw TemplateFault.error("KeyError: " + PythonRepr.quoted(name));
    }
    return value;
  }

  private static String cut(String text, int precision) {
    return precision >= 0 && precision < PythonText.length(text)
        ? PythonText.slice(text, 0, precision)
        : text;
  }

  private static String integer(Object value, int radix, int precision, char type) {
    Object number = value;
    if (value instanceof Double real && radix == 10) {
      number = PythonNumbers.truncated(real);
    }
    if (value instanceof Undefined undefined && radix == 10) {
      throw undefined.used();
    }
    if (!PythonNumbers.isInteger(number)) {
      throw TemplateFault.error("%" + type + " format: an integer is required");
    }
    BigInteger large = PythonNumbers.big(number);
    String digits = radix == 10 ? PythonRepr.decimal(large.abs()) : large.abs().toString(radix);
    digits = "0".repeat(Math.max(0, precision - digits.length())) + digits;
    return large.signum() < 0 ? "-" + digits : digits;
  }

  private static String fixed(Object value, int precision) {
    if (value instanceof Undefined undefined) {
      throw undefined.used();
    }
    if (!PythonNumbers.isNumber(value)) {
      throw TemplateFault.error("must be real number, not " + PythonValues.typeName(value));
    }
    double number = PythonNumbers.toDouble(value);
    if (Double.isNaN(number) || Double.isInfinite(number)) {
      return PythonRepr.number(number);
    }
    String digits =
        new BigDecimal(Math.abs(number))
            .setScale(precision, RoundingMode.HALF_EVEN)
            .toPlainString();
    return number < 0 || 1 / number < 0 ? "-" + digits : digits;
  }

  private static String padded(String text, String flags, int width, boolean number) {
    if (flags.indexOf('#') >= 0) {
      throw TemplateFault.unsupported("flag # in a format");
    }
    String signed = text;
    if (number && !text.startsWith("-")) {
      signed = flags.indexOf('+') >= 0 ? "+" + text : flags.indexOf(' ') >= 0 ? " " + text : text;
    }
    String padding = " ".repeat((int) Math.max(0, width - PythonText.length(signed)));
    if (flags.indexOf('-') >= 0) {
      return signed + padding;
    }
    if (number && flags.indexOf('0') >= 0) {
      int sign = signed.startsWith("-") || signed.startsWith("+") || signed.startsWith(" ") ? 1 : 0;
      return signed.substring(0, sign) + padding.replace(' ', '0') + signed.substring(sign);
    }
    return padding + signed;
  }
}
