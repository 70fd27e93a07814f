package io.kvasir.tokens.template.python;

/** The small forms of a capital sigma: one of them ends words. Stateless. */
final class FinalSigma {

  static final char CAPITAL = '\u03a3';
  private static final char SMALL = '\u03c3';
  private static final char SMALL_AT_END = '\u03c2';

  /** Characters within words, besides marks, modifiers and formats. */
  private static final String WITHIN_WORDS =
      "'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a";

  private FinalSigma() {}

  /**
   * The text with small sigmas in the place of capital ones, in O(n) steps. Python has the form of
   * ends behind a letter with a case and not before one; what has no weight in words does not
   * count.
   */
  static String lowered(String text) {
    if (text.indexOf(CAPITAL) < 0) {
      return text;
    }
    char[] lowered = text.toCharArray();
    boolean casedBehind = false;
    int end = text.length();
    while (end > 0) {
      int c = text.codePointBefore(end);
      end -= Character.charCount(c);
      if (c == CAPITAL) {
        lowered[end] = casedBehind ? SMALL : SMALL_AT_END;
      }
      casedBehind = isIgnored(c) ? casedBehind : PythonText.isCased(c);
    }
    boolean casedBefore = false;
    for (int i = 0; i < lowered.length; i += Character.charCount(text.codePointAt(i))) {
      int c = text.codePointAt(i);
      if (c == CAPITAL && !casedBefore) {
        lowered[i] = SMALL;
      }
      casedBefore = isIgnored(c) ? casedBefore : PythonText.isCased(c);
    }
    return new String(lowered);
  }

  /** Unicode's Case_Ignorable. */
  private static boolean isIgnored(int c) {
    return switch (Character.getType(c)) {
      case Character.NON_SPACING_MARK,
          Character.ENCLOSING_MARK,
          Character.FORMAT,
          Character.MODIFIER_LETTER,
          Character.MODIFIER_SYMBOL ->
          true;
      default -> WITHIN_WORDS.indexOf(c) >= 0;
    };
  }
}
