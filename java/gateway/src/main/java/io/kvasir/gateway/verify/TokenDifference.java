package io.kvasir.gateway.verify;

import java.util.Arrays;

/**
 * Where the tokens that an engine stored differ from the expected ones. Immutable by contract: the
 * arrays are not copied.
 *
 * @param position index of the first differing token in the prompt
 * @param expected the expected tokens from there on
 * @param stored the engine's tokens from there on
 * @param expectedText the text of the expected tokens; empty if it is unknown
 * @param storedText the text of the engine's tokens; empty if it is unknown
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record TokenDifference(
    int position, int[] expected, int[] stored, String expectedText, String storedText) {

  /** Tokens that are shown on each side. */
  static final int SHOWN = 16;

  /** Tokens that a search compares before it begins with another alignment, at most. */
  private static final int MAX_COMPARED = 1 << 14;

  /**
   * Where stored blocks lie in a prompt.
   *
   * @param at index of their first token in the prompt
   * @param length how many tokens agree from there on
   */
  record Alignment(int at, int length) {}

  /**
   * Finds where stored blocks agree longest with a prompt. The search ends early, without the end
   * of the prompt, if it takes too long.
   *
   * @param prompt the expected tokens
   * @param stored tokens of stored blocks
   * @param root whether they begin a prompt
   * @param tokensPerBlock the block size: stored blocks begin at a multiple of it
   * @return the first of the longest alignments
   */
  static Alignment align(int[] prompt, int[] stored, boolean root, int tokensPerBlock) {
    Alignment best = new Alignment(0, -1);
    int compared = 0;
    int at = 0;
    do {
      int most = Math.min(prompt.length - at, stored.length);
      int differing = Arrays.mismatch(prompt, at, at + most, stored, 0, most);
      int length = differing < 0 ? most : differing;
      if (length > best.length) {
        best = new Alignment(at, length);
      }
      compared += length + 1;
      at += tokensPerBlock;
    } while (!root && at < prompt.length && best.length < stored.length && compared < MAX_COMPARED);
    return best;
  }

  /**
   * The difference behind an alignment.
   *
   * @param prompt the expected tokens
   * @param stored tokens of stored blocks
   * @param where how they are aligned
   * @return the difference; its position is that of the alignment's end if they agree
   */
  static TokenDifference behind(int[] prompt, int[] stored, Alignment where) {
    int position = where.at + where.length;
    return new TokenDifference(
        position,
        Arrays.copyOfRange(prompt, position, Math.min(prompt.length, position + SHOWN)),
        Arrays.copyOfRange(stored, where.length, Math.min(stored.length, where.length + SHOWN)),
        "",
        "");
  }

  /**
   * {@return the same difference with texts}
   *
   * @param ofExpected the text of the expected tokens
   * @param ofStored the text of the engine's tokens
   */
  TokenDifference withTexts(String ofExpected, String ofStored) {
    return new TokenDifference(position, expected, stored, ofExpected, ofStored);
  }

  /** {@return the difference in words, with token ids} */
  public String text() {
    return "the first difference is at token "
        + position
        + ": "
        + Arrays.toString(expected)
        + " was expected, "
        + Arrays.toString(stored)
        + " is stored";
  }
}
