package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.TemplateFault;

/** Escapes of string literals, as Python's codec {@code unicode-escape} reads them. Stateless. */
final class StringEscapes {

  private StringEscapes() {}

  /**
   * @param literal without its quotes
   * @param at its offset in the template
   */
  static String decoded(String literal, int at) {
    if (literal.indexOf('\\') < 0) {
      return literal;
    }
    StringBuilder text = new StringBuilder(literal.length());
    int i = 0;
    while (i < literal.length()) {
      char c = literal.charAt(i);
      if (c != '\\') {
        text.append(c);
        i++;
      } else {
        i = escape(literal, i + 1, text, at);
      }
    }
    return text.toString();
  }

  private static int escape(String literal, int i, StringBuilder text, int at) {
    char c = literal.charAt(i);
    switch (c) {
      case '\n' -> {}
      case '\\', '\'', '"' -> text.append(c);
      case 'a' -> text.append((char) 7);
      case 'b' -> text.append('\b');
      case 'f' -> text.append('\f');
      case 'n' -> text.append('\n');
      case 'r' -> text.append('\r');
      case 't' -> text.append('\t');
      case 'v' -> text.append((char) 11);
      case 'x' -> {
        return hexadecimal(literal, i + 1, 2, text, at);
      }
      case 'u' -> {
        return hexadecimal(literal, i + 1, 4, text, at);
      }
      case 'U' -> {
        return hexadecimal(literal, i + 1, 8, text, at);
      }
      case 'N' -> throw TemplateFault.unsupported(at, "names of characters (\\N)");
      default -> {
        return other(literal, i, text);
      }
    }
    return i + 1;
  }

  /** Octal numbers, and characters that need no escape: these keep the backslash. */
  private static int other(String literal, int i, StringBuilder text) {
    char c = literal.charAt(i);
    if (c >= '0' && c <= '7') {
      int end = i;
      int value = 0;
      while (end < literal.length()
          && end < i + 3
          && "01234567".indexOf(literal.charAt(end)) >= 0) {
        value = value * 8 + literal.charAt(end++) - '0';
      }
      text.append((char) value);
      return end;
    }
    text.append('\\');
    if (c < 0x80) {
      text.append(c);
      return i + 1;
    }
    // Python first writes such a character as an escape of its own, whose backslash is then spent.
    int codePoint = literal.codePointAt(i);
    text.append(
        codePoint < 0x100
            ? String.format("x%02x", codePoint)
            : String.format(codePoint < 0x10000 ? "u%04x" : "U%08x", codePoint));
    return i + Character.charCount(codePoint);
  }

  private static int hexadecimal(String literal, int i, int digits, StringBuilder text, int at) {
    long value = 0;
    for (int k = 0; k < digits; k++) {
      char c = i + k < literal.length() ? literal.charAt(i + k) : 0;
      int digit = c < 0x80 ? Character.digit(c, 16) : -1;
      if (digit < 0) {
        throw TemplateFault.syntax(at, "an escape in the string is cut off");
      }
      value = value * 16 + digit;
    }
    if (value > Character.MAX_CODE_POINT) {
      throw TemplateFault.syntax(at, "an escape in the string is no character");
    }
    if (value >= Character.MIN_SURROGATE && value <= Character.MAX_SURROGATE) {
      throw TemplateFault.unsupported(at, "escapes of surrogates");
    }
    text.appendCodePoint((int) value);
    return i + digits;
  }
}
