package io.kvasir.tokens.template.python;

/**
 * Searches a text for another one, in one direction, in O(n + m) steps for n characters and a
 * wanted text of m. Not thread-safe; for one text.
 */
public final class TextSearch {

  /** Shorter texts are compared at each place. */
  private static final int SHORT = 64;

  private final String text;
  private final String wanted;
  private final boolean backward;
  private final int[] borders;

  private TextSearch(Budget budget, String text, String wanted, boolean backward) {
    this.text = text;
    this.wanted = wanted;
    this.backward = backward;
    boolean simple = wanted.length() <= SHORT || wanted.length() > text.length();
    budget.work(
        wanted.length() <= SHORT
            ? ((long) text.length() * (wanted.length() + 15)) >> 4
            : 4L * (text.length() + wanted.length()));
    this.borders = new int[simple ? 0 : wanted.length()];
    measureBorders();
  }

  /** Searches from the left. */
  public static TextSearch forward(Budget budget, String text, String wanted) {
    return new TextSearch(budget, text, wanted, false);
  }

  /** Searches from the right. */
  public static TextSearch backward(Budget budget, String text, String wanted) {
    return new TextSearch(budget, text, wanted, true);
  }

  /**
   * {@return where the next occurrence begins, negative if there is none}
   *
   * @param at where it begins at the earliest; for a search from the right, where it ends at the
   *     latest
   */
  public int next(int at) {
    if (borders.length == 0) {
      return backward ? text.lastIndexOf(wanted, at - wanted.length()) : text.indexOf(wanted, at);
    }
    int matched = 0;
    int step = backward ? -1 : 1;
    for (int i = backward ? at - 1 : at; i >= 0 && i < text.length(); i += step) {
      matched = extended(matched, text.charAt(i));
      if (matched == wanted.length()) {
        return backward ? i : i + 1 - matched;
      }
    }
    return -1;
  }

  /** How much of the wanted text matches with one more character. */
  private int extended(int matched, char c) {
    int length = matched;
    while (length > 0 && c != wantedAt(length)) {
      length = borders[length - 1];
    }
    return c == wantedAt(length) ? length + 1 : length;
  }

  private char wantedAt(int index) {
    return wanted.charAt(backward ? wanted.length() - 1 - index : index);
  }

  /** The longest start of each start of the wanted text that also ends it. */
  private void measureBorders() {
    for (int i = 1; i < borders.length; i++) {
      borders[i] = extended(borders[i - 1], wantedAt(i));
    }
  }
}
