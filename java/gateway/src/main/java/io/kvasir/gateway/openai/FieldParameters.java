package io.kvasir.gateway.openai;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads parameters of header fields, such as {@code ; name="model"}. Stateless. */
final class FieldParameters {

  private FieldParameters() {}

  /**
   * {@return the value of a parameter, without quotes; null if there is none}
   *
   * @param parameters the field's value from its first semicolon on
   * @param name the parameter's name in lower case
   */
  static @Nullable String value(String parameters, String name) {
    int at = parameters.indexOf(';');
    while (at >= 0) {
      int equals = parameters.indexOf('=', at);
      if (equals < 0) {
        return null;
      }
      String each = parameters.substring(at + 1, equals).strip().toLowerCase(Locale.ROOT);
      int start = equals + 1;
      while (start < parameters.length() && parameters.charAt(start) == ' ') {
        start++;
      }
      StringBuilder value = new StringBuilder();
      at = read(parameters, start, value);
      if (each.equals(name)) {
        return value.toString();
      }
    }
    return null;
  }

  /** Reads a token or a quoted text; {@return the next semicolon's index, or -1} */
  private static int read(String text, int start, StringBuilder value) {
    if (start >= text.length() || text.charAt(start) != '"') {
      int end = text.indexOf(';', start);
      value.append(text.substring(start, end < 0 ? text.length() : end).strip());
      return end;
    }
    int i = start + 1;
    while (i < text.length() && text.charAt(i) != '"') {
      if (text.charAt(i) == '\\' && i + 1 < text.length()) {
        i++;
      }
      value.append(text.charAt(i++));
    }
    return text.indexOf(';', i);
  }
}
