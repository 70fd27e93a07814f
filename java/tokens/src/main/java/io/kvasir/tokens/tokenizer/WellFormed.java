package io.kvasir.tokens.tokenizer;

/** Replaces surrogates without a pair, which UTF-8 cannot represent. Stateless. */
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
