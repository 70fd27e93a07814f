package io.kvasir.tokens.tokenizer;

import java.text.Normalizer;

/** Composes text as Unicode's NFC says. Stateless. */
final class ComposedText {

  /** The longest run of marks: the JDK orders a run in O(its length squared). */
  static final int MAX_MARKS = 1_000;

  /** Text of characters below is composed. */
  private static final char FIRST_MARK = '\u0300';

  private ComposedText() {}

  /**
   * Composes a text. O(n).
   *
   * @param text well-formed text
   * @return its NFC; the same text if it is composed
   * @throws TokenizerException if it has more than {@link #MAX_MARKS} marks behind one another
   */
  static String of(String text) throws TokenizerException {
    int at = 0;
    while (at < text.length() && text.charAt(at) < FIRST_MARK) {
      at++;
    }
    if (at == text.length()) {
      return text;
    }
    int marks = 0;
    while (at < text.length()) {
      int character = text.codePointAt(at);
      marks = joins(character) ? marks + 1 : 0;
      if (marks > MAX_MARKS) {
        throw new TokenizerException("a run of combining marks exceeds the limit of " + MAX_MARKS);
      }
      at += Character.charCount(character);
    }
    return Normalizer.isNormalized(text, Normalizer.Form.NFC)
        ? text
        : Normalizer.normalize(text, Normalizer.Form.NFC);
  }

  /**
   * Whether a character may be ordered or composed with those in front of it. All characters with a
   * combining class are marks; a few marks without one, such as U+0F73, become such characters.
   */
  private static boolean joins(int character) {
    int marks =
        1 << Character.NON_SPACING_MARK
            | 1 << Character.COMBINING_SPACING_MARK
            | 1 << Character.ENCLOSING_MARK;
    return character >= FIRST_MARK && (marks >> Character.getType(character) & 1) != 0;
  }
}
