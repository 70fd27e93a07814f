package io.kvasir.simulator.trace;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Splits lines of CSV (RFC 4180). Fields may be in quotes, which hide separators; two quotes stand
 * for one. Blanks around a field do not matter. A field ends on its line. Stateless.
 */
final class CsvLine {

  private static final char QUOTE = '"';

  private CsvLine() {}

  /**
   * The fields of a line. O(characters).
   *
   * @param line the line, without its end
   * @param separator what stands between fields
   * @return at least one field; null if a quoted field does not end
   */
  static @Nullable List<String> fields(String line, char separator) {
    List<String> fields = new ArrayList<>();
    StringBuilder field = new StringBuilder();
    boolean quoted = false;
    for (int at = 0; at < line.length(); at++) {
      char next = line.charAt(at);
      if (quoted && next == QUOTE && at + 1 < line.length() && line.charAt(at + 1) == QUOTE) {
        field.append(next);
        at++;
      } else if (next == QUOTE && (quoted || field.toString().isBlank())) {
        quoted = !quoted;
      } else if (next == separator && !quoted) {
        fields.add(field.toString().strip());
        field.setLength(0);
      } else {
        field.append(next);
      }
    }
    fields.add(field.toString().strip());
    return quoted ? null : fields;
  }
}
