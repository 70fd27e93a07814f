package io.kvasir.gateway.openai;

import io.kvasir.fleet.router.TextSink;
import java.nio.charset.StandardCharsets;

/** Conversions between JSON strings and Java's. Stateless; every operation is O(characters). */
public final class JsonText {

  private static final String HEX = "0123456789abcdef";

  /** Up to this length, a part of a text is decoded byte by byte. */
  private static final int SHORT_BYTES = 32;

  private static final byte[] EMPTY = new byte[0];

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
   * Passes on a JSON string that {@link JsonCursor} has checked, with the characters of {@link
   * #decode}.
   *
   * @param bytes the array that holds it
   * @param from index of its opening quote
   * @param to index after its closing quote
   * @param out receives its parts
   */
  static void accept(byte[] bytes, int from, int to, TextSink out) {
    int end = to - 1;
    int plain = from + 1;
    int escape = ByteSearch.backslash(bytes, plain, end);
    byte[] character = escape < end ? new byte[Utf8.MAX_LENGTH] : EMPTY;
    while (escape < end) {
      if (escape > plain) {
        out.accept(bytes, plain, escape);
      }
      int codePoint;
      if (bytes[escape + 1] != 'u') {
        codePoint = unescaped(bytes[escape + 1]);
        plain = escape + 2;
      } else {
        char unit = unit(bytes, escape + 2);
        plain = escape + 6;
        codePoint = unit;
        if (Character.isHighSurrogate(unit)
            && plain < end
            && bytes[plain] == '\\'
            && bytes[plain + 1] == 'u'
            && Character.isLowSurrogate(unit(bytes, plain + 2))) {
          codePoint = Character.toCodePoint(unit, unit(bytes, plain + 2));
          plain += 6;
        }
      }
      out.accept(character, 0, Utf8.encode(codePoint, character));
      escape = ByteSearch.backslash(bytes, plain, end);
    }
    if (end > plain) {
      out.accept(bytes, plain, end);
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
