package io.kvasir.simulator.trace;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The columns of a CSV file that make a trace, by their names in its header.
 *
 * <p>Immutable.
 *
 * @param timestamp when a request arrived: a number, or a time
 * @param input tokens of the prompt
 * @param output tokens of the answer
 * @param session the name of the conversation, or null
 */
public record TraceColumns(
    String timestamp, String input, String output, @Nullable String session) {

  /** The columns of Azure's traces, which have no others. */
  static final TraceColumns AZURE =
      new TraceColumns("TIMESTAMP", "ContextTokens", "GeneratedTokens", null);

  /** The columns of BurstGPT's traces; some of these have sessions. */
  static final TraceColumns BURST_GPT =
      new TraceColumns("Timestamp", "Request tokens", "Response tokens", null);

  /** The column of conversations in those of BurstGPT's traces that have it. */
  static final String BURST_GPT_SESSION = "Session ID";

  private static final List<String> KEYS = List.of("timestamp", "input", "output", "session");

  /**
   * Reads columns in the form {@code timestamp=Time,input=Prompt tokens,output=Answer tokens}, in
   * any order, with {@code session} as a fourth one. An entry with a comma stands in quotes.
   *
   * @param text the text
   * @return the columns; null if a key is unknown, missing or there twice, or a name is empty
   */
  public static @Nullable TraceColumns of(String text) {
    List<String> entries = CsvLine.fields(text, ',');
    Map<String, String> byKey = new HashMap<>();
    for (String entry : entries == null ? List.<String>of() : entries) {
      int equals = entry.indexOf('=');
      String key = equals < 0 ? "" : entry.substring(0, equals).strip();
      String column = entry.substring(equals + 1).strip();
      if (!KEYS.contains(key) || column.isEmpty() || byKey.put(key, column) != null) {
        return null;
      }
    }
    String timestamp = byKey.get("timestamp");
    String input = byKey.get("input");
    String output = byKey.get("output");
    return timestamp == null || input == null || output == null
        ? null
        : new TraceColumns(timestamp, input, output, byKey.get("session"));
  }

  /** {@return the same columns with one of conversations} */
  TraceColumns withSession(String column) {
    return new TraceColumns(timestamp, input, output, column);
  }

  /** {@return the columns in the form that {@link #of} reads} */
  @Override
  public String toString() {
    return entry("timestamp", timestamp)
        + ","
        + entry("input", input)
        + ","
        + entry("output", output)
        + (session == null ? "" : "," + entry("session", session));
  }

  private static String entry(String key, String column) {
    String entry = key + "=" + column;
    boolean plain = column.indexOf(',') < 0 && column.indexOf('"') < 0;
    return plain ? entry : "\"" + entry.replace("\"", "\"\"") + "\"";
  }
}
