package io.kvasir.tokens.chat;

/** Texts as Python treats them. Stateless. */
final class Text {

  private Text() {}

  /** Python's {@code str.strip}. */
  static String strip(String text) {
    int from = 0;
    int to = text.length();
    while (from < to && isBlank(text.charAt(from))) {
      from++;
    }
    while (from < to && isBlank(text.charAt(to - 1))) {
      to--;
    }
    return text.substring(from, to);
  }

  private static boolean isBlank(char c) {
    return Character.isWhitespace(c)
        || Character.isSpaceChar(c)
        || c == '\u0085'
        || (c >= '\u001c' && c <= '\u001f');
  }

  /** The last place of a text in another; -1 if there is none. O(n), by Knuth, Morris and Pratt. */
  static int lastIndexOf(String text, String part) {
    int[] border = new int[part.length() + 1];
    border[0] = -1;
    int length = part.length();
    for (int i = 0, at = -1; i < length; ) {
      while (at >= 0 && fromEnd(part, i) != fromEnd(part, at)) {
        at = border[at];
      }
      border[++i] = ++at;
    }
    for (int i = 0, at = 0; i < text.length(); ) {
      while (at >= 0 && fromEnd(text, i) != fromEnd(part, at)) {
        at = border[at];
      }
      i++;
      if (++at == length) {
        return text.length() - i;
      }
    }
    return -1;
  }

  private static char fromEnd(String text, int i) {
    return text.charAt(text.length() - 1 - i);
  }
}
