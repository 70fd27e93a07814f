package io.kvasir.gateway.proxy;

import io.kvasir.model.Errors;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Paths outside the API that an operator lets pass to the workers, each with all paths below it.
 * Immutable.
 *
 * @param prefixes the paths, each in its normal spelling, without a slash at the end
 */
public record PassPaths(List<String> prefixes) {

  /** No path passes. */
  public static final PassPaths NONE = new PassPaths(List.of());

  private static final Pattern PATH = Pattern.compile("(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]+)+/?");

  /** Copies the list. */
  public PassPaths {
    prefixes = List.copyOf(prefixes);
  }

  /**
   * Reads a path.
   *
   * @param text the path, with a slash at the end or without
   * @return the path without a slash at the end
   * @throws IllegalArgumentException if it is no path that a request can have
   */
  public static String path(String text) {
    if (!PATH.matcher(text).matches()) {
      throw new IllegalArgumentException(
          "must be a path like /custom/api, of letters, digits, '-', '.', '_' and '~' between single"
              + " slashes, not '"
              + Errors.shown(text)
              + "'");
    }
    return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
  }

  /** Whether a path passes. O(prefixes). */
  boolean has(String path) {
    for (String prefix : prefixes) {
      if (path.startsWith(prefix)
          && (path.length() == prefix.length() || path.charAt(prefix.length()) == '/')) {
        return true;
      }
    }
    return false;
  }
}
