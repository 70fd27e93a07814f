package io.kvasir.cli.option;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Finds the word that a misspelt one was meant to be. Stateless. */
public final class Suggestions {

  /** Characters for each edit that a word may be away. */
  private static final int CHARACTERS_AN_EDIT = 4;

  private Suggestions() {}

  /**
   * {@return the closest of the allowed words; null if none is close} The fewest insertions,
   * deletions and replacements of a character, and exchanges of two neighbours, count: at most one
   * for each four characters.
   *
   * @param word the misspelt word
   * @param allowed the allowed words
   */
  public static @Nullable String closest(String word, Collection<String> allowed) {
    String closest = null;
    int fewest = Math.max(1, word.length() / CHARACTERS_AN_EDIT) + 1;
    for (String candidate : allowed) {
      if (Math.abs(word.length() - candidate.length()) < fewest) { // else it needs more edits
        int edits = edits(word, candidate);
        if (edits < fewest) {
          fewest = edits;
          closest = candidate;
        }
      }
    }
    return closest;
  }

  /**
   * {@return the question for the closest of the allowed words, after a blank; empty if none is
   * close}
   *
   * @param word the misspelt word
   * @param allowed the allowed words
   */
  public static String question(String word, Collection<String> allowed) {
    String close = closest(word, allowed);
    return close == null ? "" : " (did you mean " + close + "?)";
  }

  private static int edits(String from, String to) {
    int[][] edits = new int[from.length() + 1][to.length() + 1];
    for (int i = 0; i <= from.length(); i++) {
      for (int j = 0; j <= to.length(); j++) {
        if (i == 0 || j == 0) {
          edits[i][j] = i + j;
          continue;
        }
        boolean same = from.charAt(i - 1) == to.charAt(j - 1);
        edits[i][j] =
            Math.min(
                edits[i - 1][j - 1] + (same ? 0 : 1),
                1 + Math.min(edits[i - 1][j], edits[i][j - 1]));
        if (i > 1
            && j > 1
            && from.charAt(i - 1) == to.charAt(j - 2)
            && from.charAt(i - 2) == to.charAt(j - 1)) {
          edits[i][j] = Math.min(edits[i][j], edits[i - 2][j - 2] + 1);
        }
      }
    }
    return edits[from.length()][to.length()];
  }
}
