package io.kvasir.gateway.openai;

import java.nio.charset.StandardCharsets;
import java.util.function.IntConsumer;

/** Conversions between JSON strings and Java's. Stateless; every operation is O(characters). */
public final class JsonText {

  private static final String HEX = "0123456789abcdef";

  /** Up to this length, a part of a text is decoded byte by byte. */
  private static final int SHORT_BYTES = 32;

  private JsonText() {}

  /**
   * A text as a JSON string. Surrogates without their pair become U+FFFD.
   *
   * @param text the text
   * @return the string with its quotes, control characters escaped
   */
  public static String quoted(String text) {
    StringBuilder json = new StringBuilder(text.length() + 16);
    appendQuoted(json, text);
    return json.toString();
  }

  static void appendQuoted(StringBuilder json, String text) {
    json.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"', '\\' -> json.append('\\').append(c);
        case '\n' -> json.append("\\n");
        case '\r' -> json.append("\\r");
        case '\t' -> json.append("\\t");
        default -> {
          if (c < ' ' || c == 0x7f) {
            json.append("\\u00").append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
          } else if (!Character.isSurrogate(c)) {
            json.append(c);
          } else if (Character.isHighSurrogate(c)
              && i + 1 < text.length()
              && Character.isLowSurrogate(text.charAt(i + 1))) {
            json.append(c).append(text.charAt(++i));
          } else {
            json.append('\ufffd');
          }
        }
      }
    }
    json.append('"');
  }

  /**
   * Decodes a JSON string that {@link JsonCursor} has checked.
   *
   * @param bytes the array that holds it
   * @param from index of its opening quote
   * @param to index after its closing quote
   * @param escaped whether it has escapes
   * @return the text; an escaped surrogate may lack its pair
   */
  static String decode(byte[] bytes, int from, int to, boolean escaped) {
    if (to - from == 2) {
      return "";
    }
    if (!escaped) {
      return new String(bytes, from + 1, to - from - 2, StandardCharsets.UTF_8);
    }
    StringBuilder text = new StringBuilder(to - from);
    int plain = from + 1;
    int i = plain;
    while (i < to - 1) {
      if (bytes[i] != '\\') {
        i++;
        continue;
      }
      appendPlain(text, bytes, plain, i);
      if (bytes[i + 1] == 'u') {
        text.append(unit(bytes, i + 2));
        i += 6;
      } else {
        text.append(unescaped(bytes[i + 1]));
        i += 2;
      }
      plain = i;
    }
    appendPlain(text, bytes, plain, i);
    return text.toString();
  }

  /** Appends bytes without escapes. Short ones without an object for each. */
  private static void appendPlain(StringBuilder text, byte[] bytes, int from, int to) {
    if (to - from > SHORT_BYTES) {
      text.append(new String(bytes, from, to - from, StandardCharsets.UTF_8));
      return;
    }
    for (int i = from; i < to; i += Utf8.length(bytes[i])) {
      text.appendCodePoint(Utf8.codePoint(bytes, i));
    }
  }

  /**
   * Passes on the code points of a JSON string that {@link JsonCursor} has checked, those of {@link
   * #decode}.
   *
   * @param bytes the array that holds it
   * @param from index of its opening quote
   * @param to index after its closing quote
   * @param each receives one code point
   */
  static void forEachCodePoint(byte[] bytes, int from, int to, IntConsumer each) {
    int end = to - 1;
    int i = from + 1;
    while (i < end) {
      byte c = bytes[i];
      if (c >= 0 && c != '\\') {
        each.accept(c);
        i++;
      } else if (c < 0) {
        each.accept(Utf8.codePoint(bytes, i));
        i += Utf8.length(c);
      } else if (bytes[i + 1] != 'u') {
        each.accept(unescaped(bytes[i + 1]));
        i += 2;
      } else {
        char unit = unit(bytes, i + 2);
        i += 6;
        if (Character.isHighSurrogate(unit)
            && i < end
            && bytes[i] == '\\'
            && bytes[i + 1] == 'u'
            && Character.isLowSurrogate(unit(bytes, i + 2))) {
          each.accept(Character.toCodePoint(unit, unit(bytes, i + 2)));
          i += 6;
        } else {
          each.accept(unit);
        }
      }
    }
  }

  private static char unescaped(byte letter) {
    return switch (letter) {
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      default -> (char) letter;
    };
  }

  private static char unit(byte[] bytes, int from) {
    int unit = 0;
    for (int i = from; i < from + 4; i++) {
      unit = (unit << 4) | hexDigit(bytes[i]);
    }
    return (char) unit;
  }

  /** {@return the value of an ASCII digit of base 16, -1 for any other byte} */
  static int hexDigit(byte c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    int letter = c | 0x20;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
  }
}
