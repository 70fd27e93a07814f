package io.kvasir.tokens.tokenizer;

/** Text that UTF-8 can represent: surrogates without a pair are replaced. Stateless. */
final class WellFormed {

  private WellFormed() {}

  /**
   * Replaces each surrogate without its pair by U+FFFD. O(n).
   *
   * @param text any text
   * @return the same text if it is well-formed
   */
  static String of(String text) {
    int broken = nextBroken(text, 0);
    if (broken == text.length()) {
      return text;
    }
    StringBuilder mended = new StringBuilder(text);
    while (broken < text.length()) {
      mended.setCharAt(broken, '\ufffd');
      broken = nextBroken(text, broken + 1);
    }
    return mended.toString();
  }

  /**
   * Counts the bytes of UTF-8. O(n), nothing is allocated.
   *
   * @param text well-formed text
   * @param start where to begin
   * @param end where to end
   * @return the bytes
   */
  static int utf8Bytes(CharSequence text, int start, int end) {
    int bytes = end - start;
    for (int i = start; i < end; i++) {
      char unit = text.charAt(i);
      if (unit >= 0x80) {
        bytes += unit < 0x800 || Character.isSurrogate(unit) ? 1 : 2;
      }
    }
    return bytes;
  }

  private static int nextBroken(String text, int from) {
    int i = from;
    while (i < text.length()) {
      if (!Character.isSurrogate(text.charAt(i))) {
        i++;
      } else if (Character.isSupplementaryCodePoint(text.codePointAt(i))) {
        i += 2;
      } else {
        return i;
      }
    }
    return i;
  }
}
