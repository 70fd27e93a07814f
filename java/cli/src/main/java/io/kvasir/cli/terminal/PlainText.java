package io.kvasir.cli.terminal;

import java.util.regex.Pattern;

/** Text of others that must not control the terminal. Stateless. */
public final class PlainText {

  private static final Pattern OTHER = Pattern.compile("[^ -~]");

  private PlainText() {}

  /**
   * {@return a line in printable ASCII, with a question mark for every other character}
   *
   * @param text the line
   */
  public static String of(String text) {
    return OTHER.matcher(text).replaceAll("?");
  }
}
