package io.kvasir.simulator.trace;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Recognises JSON lines of other formats, which have no lengths or hold many requests. Stateless.
 */
final class ForeignRows {

  private static final String EXPECTED =
      "; expected a request a line, with timestamp, input_length, output_length and hash_ids";

  /** A field of each format, and what it shows; the first one that a row has counts. */
  private static final List<Map.Entry<String, String>> FIELDS =
      List.of(
          Map.entry("requests", "; requests holds a whole conversation, as in Weka's traces"),
          Map.entry("in", "; t, in and out are the fields of Weka's traces"),
          Map.entry("input", "; input holds text, as in LMCache's traces"),
          Map.entry("messages", "; messages holds text"),
          Map.entry("prompt", "; prompt holds text"));

  private ForeignRows() {}

  /**
   * Says which format a row has that lacks a required field.
   *
   * @param keys the row's fields
   * @return the end of a sentence; empty if the format is unknown
   */
  static String hint(Set<String> keys) {
    for (Map.Entry<String, String> each : FIELDS) {
      if (keys.contains(each.getKey())) {
        return each.getValue() + EXPECTED;
      }
    }
    return "";
  }
}
