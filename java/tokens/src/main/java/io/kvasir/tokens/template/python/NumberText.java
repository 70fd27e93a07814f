package io.kvasir.tokens.template.python;

import java.math.BigInteger;
import java.util.regex.Pattern;

/** Numbers in strings, as {@code int()} and {@code float()} read them. Stateless. */
public final class NumberText {

  private static final Pattern REAL =
      Pattern.compile(
          "[+-]?(?:[0-9]++(?:_[0-9]++)*+(?:\\.(?:[0-9]++(?:_[0-9]++)*+)?)?+"
              + "|\\.[0-9]++(?:_[0-9]++)*+)(?:[eE][+-]?[0-9]++(?:_[0-9]++)*+)?+");
  private static final Pattern NOT_FINITE = Pattern.compile("([+-]?)(?i:(inf|infinity)|nan)");
  private static final int LONGEST_INTEGER = 4300;

  private NumberText() {}

  private static String stripped(String text) {
    String stripped = PythonText.strip(text, None.NONE, true, true);
    StringBuilder ascii = new StringBuilder();
    for (int i = 0; i < stripped.length(); i += Character.charCount(stripped.codePointAt(i))) {
      int c = stripped.codePointAt(i);
      ascii.appendCodePoint(c >= 0x80 && Character.isDigit(c) ? '0' + Character.digit(c, 10) : c);
    }
    return ascii.toString();
  }

  /** An integer; {@link Missing} if the text is none. */
  public static Object integer(String text, long base) {
    if (base != 0 && (base < 2 || base > 36)) {
      return Missing.MISSING;
    }
    String digits = stripped(text);
    boolean negative = digits.startsWith("-");
    if (negative || digits.startsWith("+")) {
      digits = digits.substring(1);
    }
    int radix = (int) base;
    String prefix = PythonText.lower(digits.substring(0, Math.min(2, digits.length())));
    int named = prefix.equals("0x") ? 16 : prefix.equals("0o") ? 8 : prefix.equals("0b") ? 2 : 0;
    if (named != 0 && (base == 0 || base == named)) {
      radix = named;
      digits = digits.substring(2);
      digits = digits.startsWith("_") ? digits.substring(1) : digits;
    } else if (base == 0) {
      radix = 10;
      if (digits.startsWith("0") && !digits.matches("0(_?0)*+")) {
        return Missing.MISSING;
      }
    }
    return plain(digits, radix, negative);
  }

  private static Object plain(String digits, int radix, boolean negative) {
    StringBuilder plain = new StringBuilder();
    boolean underscore = true;
    for (int i = 0; i < digits.length(); i++) {
      char c = digits.charAt(i);
      if (c == '_' ? underscore : c >= 0x80 || Character.digit(c, radix) < 0) {
        return Missing.MISSING;
      }
      underscore = c == '_';
      if (!underscore) {
        plain.append(c);
      }
    }
    boolean power = (radix & (radix - 1)) == 0;
    if (underscore || (!power && plain.length() > LONGEST_INTEGER)) {
      return Missing.MISSING;
    }
    if (plain.length() > 4 * LONGEST_INTEGER) {
      throw TemplateFault.limit("an integer is too long");
    }
    BigInteger number = new BigInteger(plain.toString(), radix);
    return PythonNumbers.integer(negative ? number.negate() : number);
  }

  /** A float; {@link Missing} if the text is none. */
  public static Object real(String text) {
    String number = stripped(text);
    if (REAL.matcher(number).matches()) {
      return Double.parseDouble(number.replace("_", ""));
    }
    if (NOT_FINITE.matcher(number).matches()) {
      boolean infinite = PythonText.lower(number).contains("inf");
      return infinite
          ? (number.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY)
          : Double.NaN;
    }
    return Missing.MISSING;
  }
}
