package io.kvasir.cli.lines;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.model.Errors;
import java.util.Map;

/**
 * Bounds the work that one line can cause. A token counts 1, and so does any other element of an
 * array: a block, a hash, a request, a rank. Operations add what they derive from the fields before
 * they allocate it. Not thread-safe.
 */
public final class LineLimit {

  /** Option of the limit. */
  public static final String OPTION = "--max-line-tokens";

  /** Limit of a line, unless the option sets another. */
  public static final int DEFAULT_TOKENS = 1 << 24;

  private final long most;
  private long used;

  /**
   * Makes a limit.
   *
   * @param most the most tokens of a line
   */
  public LineLimit(long most) {
    this.most = most;
  }

  /** Starts a line and counts the elements of its arrays. */
  void start(JsonNode line) {
    used = 0;
    for (Map.Entry<String, JsonNode> field : line.properties()) {
      add(field.getKey(), elements(field.getValue()));
    }
  }

  private static long elements(JsonNode node) {
    long elements = node.isArray() ? node.size() : 0;
    for (JsonNode each : node) {
      elements += each.isContainerNode() ? elements(each) : 0;
    }
    return elements;
  }

  /**
   * Counts tokens that a field adds to the line.
   *
   * @param field the field
   * @param tokens the number of tokens, at least 0 and below 2^62
   * @throws InvalidLineException if the line exceeds the limit
   */
  public void add(String field, long tokens) {
    used += tokens;
    if (used > most) {
      throw new InvalidLineException(
          Errors.shown(field)
              + " makes a line of "
              + used
              + " tokens; at most "
              + most
              + " are allowed ("
              + OPTION
              + ")");
    }
  }
}
