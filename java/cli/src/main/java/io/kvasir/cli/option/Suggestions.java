package io.kvasir.cli.option;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Finds the word that a misspelt one was meant to be. */
final class Suggestions {

  /** Characters for each edit that a word may be away. */
  private static final int CHARACTERS_AN_EDIT = 4;

  private Suggestions() {}

  /**
   * The closest of the allowed words; null if none is close. The fewest insertions, deletions and
   * replacements of a character count, at most one for each four characters.
   */
  static @Nullable String closest(String word, Collection<String> allowed) {
    String closest = null;
    int fewest = Math.max(1, word.length() / CHARACTERS_AN_EDIT) + 1;
    for (String candidate : allowed) {
      int edits = edits(word, candidate);
      if (edits < fewest) {
        fewest = edits;
        closest = candidate;
      }
    }
    return closest;
  }

  private static int edits(String from, String to) {
    int[] above = new int[to.length() + 1];
    for (int column = 0; column <= to.length(); column++) {
      above[column] = column;
    }
    for (int row = 1; row <= from.length(); row++) {
      int[] current = new int[to.length() + 1];
      current[0] = row;
      for (int column = 1; column <= to.length(); column++) {
        int replaced = above[column - 1] + (from.charAt(row - 1) == to.charAt(column - 1) ? 0 : 1);
        current[column] = Math.min(replaced, 1 + Math.min(above[column], current[column - 1]));
      }
      above = current;
    }
    return above[to.length()];
  }
}
