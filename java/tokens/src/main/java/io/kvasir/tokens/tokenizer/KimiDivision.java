package io.kvasir.tokens.tokenizer;

import java.util.ArrayList;
import java.util.List;

/**
 * Divides text as Kimi's tokenizer does before it looks for words: every 400,000 characters, and in
 * runs of only whitespace or only other characters every 25,000. Stateless.
 */
final class KimiDivision {

  private static final int MAX_CHARS = 400_000;
  private static final int MAX_RUN = 25_000;

  private KimiDivision() {}

  /**
   * Divides a text. O(n).
   *
   * @param text well-formed text without added tokens
   * @return its parts in order
   */
  static List<String> of(String text) {
    List<String> parts = new ArrayList<>();
    int begin = 0;
    int chars = 0;
    int run = 0;
    boolean inSpace = false;
    for (int at = 0; at < text.length(); ) {
      int character = text.codePointAt(at);
      boolean space = isSpace(character);
      if (chars == MAX_CHARS) {
        parts.add(text.substring(begin, at));
        begin = at;
        chars = 0;
        run = 0;
      }
      if (chars == 0 || space != inSpace) {
        inSpace = space;
        run = 1;
      } else if (++run > MAX_RUN) {
        parts.add(text.substring(begin, at));
        begin = at;
        run = 1;
      }
      chars++;
      at += Character.charCount(character);
    }
    parts.add(text.substring(begin));
    return parts;
  }

  /** Python's {@code str.isspace}. */
  private static boolean isSpace(int character) {
    return character == ' '
        || (character >= '\t' && character <= '\r')
        || (character >= 0x1c && character <= 0x1f)
        || character == 0x85
        || Character.isSpaceChar(character);
  }
}
