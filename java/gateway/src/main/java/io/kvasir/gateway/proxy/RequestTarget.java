package io.kvasir.gateway.proxy;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The one spelling of a request's target: engines and the gateway must see the same resource in it.
 * Escapes of unreserved characters are decoded, those of others have capital digits, segments of
 * dots are resolved and empty segments left out (RFC 3986, section 6.2.2). Immutable.
 *
 * @param path the path, without an empty segment at its end
 * @param query the query with its question mark, as the client wrote it; empty if there is none
 */
record RequestTarget(String path, String query) {

  private static final String UNRESERVED = "-._~";
  private static final String SLASH = "%2F";

  /** The gateway itself answers for models, whose names can have slashes. */
  private static final String MODEL = "/v1/models/";

  /**
   * {@return the normal spelling of a target; null if an engine could read it in several ways: a
   * backslash, semicolon or number sign in the path, an escape that is none, an escaped backslash,
   * semicolon or control character, or an escaped slash outside the name of a model}
   *
   * @param target what the request line has: a path and query, or a whole URI of http or https,
   *     whose host does not count
   */
  static @Nullable RequestTarget of(String target) {
    String local = withoutAuthority(target);
    int mark = local.indexOf('?');
    String query = mark < 0 ? "" : local.substring(mark);
    String path = mark < 0 ? local : local.substring(0, mark);
    if (query.indexOf('#') >= 0) {
      return null;
    }
    if (isNormal(path)) {
      return new RequestTarget(path, query);
    }
    String decoded = decoded(path);
    String resolved = decoded == null ? null : resolved(decoded);
    if (resolved == null || (resolved.contains(SLASH) && !resolved.startsWith(MODEL))) {
      return null;
    }
    return new RequestTarget(resolved, query);
  }

  /** Of the absolute form (RFC 9112, section 3.2.2), path and query. */
  private static String withoutAuthority(String target) {
    for (String scheme : new String[] {"http://", "https://"}) {
      if (target.regionMatches(true, 0, scheme, 0, scheme.length())) {
        int end = scheme.length();
        while (end < target.length() && "/?#".indexOf(target.charAt(end)) < 0) {
          end++;
        }
        String rest = target.substring(end);
        return rest.startsWith("/") ? rest : "/" + rest;
      }
    }
    return target;
  }

  /** Whether a path surely stays as it is: letters, digits, and slashes before them. */
  private static boolean isNormal(String path) {
    boolean slash = true;
    for (int i = 0; i < path.length(); i++) {
      char c = path.charAt(i);
      if (c == '/') {
        if (slash && i > 0) {
          return false;
        }
        slash = true;
      } else if (isAlphanumeric(c) || c == '-' || c == '_') {
        slash = false;
      } else {
        return false;
      }
    }
    return !slash && path.charAt(0) == '/';
  }

  private static @Nullable String decoded(String path) {
    StringBuilder decoded = new StringBuilder(path.length());
    for (int i = 0; i < path.length(); i++) {
      char c = path.charAt(i);
      if (c == '\\' || c == ';' || c == '#') {
        return null;
      }
      if (c != '%') {
        decoded.append(c);
        continue;
      }
      int high = i + 1 < path.length() ? Character.digit(path.charAt(i + 1), 16) : -1;
      int low = i + 2 < path.length() ? Character.digit(path.charAt(i + 2), 16) : -1;
      int value = high << 4 | low;
      if (high < 0 || low < 0 || value < ' ' || value == 0x7f || "\\;".indexOf(value) >= 0) {
        return null;
      }
      if (isAlphanumeric((char) value) || UNRESERVED.indexOf(value) >= 0) {
        decoded.append((char) value);
      } else {
        decoded.append('%').append(capital(high)).append(capital(low));
      }
      i += 2;
    }
    return decoded.toString();
  }

  private static char capital(int digit) {
    return Character.toUpperCase(Character.forDigit(digit, 16));
  }

  private static boolean isAlphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }

  /** Resolves segments of dots and leaves out empty ones. */
  private static String resolved(String path) {
    if (!path.startsWith("/")) {
      return path; // the asterisk form
    }
    Deque<String> segments = new ArrayDeque<>();
    for (String segment : path.split("/", -1)) {
      if (segment.equals("..")) {
        segments.pollLast();
      } else if (!segment.isEmpty() && !segment.equals(".")) {
        segments.addLast(segment);
      }
    }
    return "/" + String.join("/", segments);
  }

  /** {@return path and query} */
  String text() {
    return query.isEmpty() ? path : path + query;
  }
}
