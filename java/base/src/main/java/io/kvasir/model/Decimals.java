package io.kvasir.model;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads numbers in plain decimal notation. Java's own methods also accept other digits than 0 to 9,
 * hexadecimal fractions and the suffixes {@code f} and {@code d}. Stateless.
 */
public final class Decimals {

  private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]+");
  private static final Pattern NUMBER =
      Pattern.compile("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?");

  private Decimals() {}

  /**
   * Reads an integer of 64 bits.
   *
   * @param text its text; blanks around it are ignored
   * @return the integer, or null if the text is not one
   */
  public static @Nullable Long integer(String text) {
    String plain = text.strip();
    if (!INTEGER.matcher(plain).matches()) {
      return null;
    }
    try {
      return Long.valueOf(plain);
    } catch (NumberFormatException e) {
      return null; // out of range
    }
  }

  /**
   * Reads a number, with or without a fraction and an exponent.
   *
   * @param text its text; blanks around it are ignored
   * @return the number, or null if the text is not one
   */
  public static @Nullable Double number(String text) {
    String plain = text.strip();
    return NUMBER.matcher(plain).matches() ? Double.valueOf(plain) : null;
  }
}
