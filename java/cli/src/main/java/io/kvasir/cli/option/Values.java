package io.kvasir.cli.option;

import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import io.kvasir.simulator.workload.IntRange;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * Reads option values. Each method throws {@link UsageException}, which says what is allowed, if
 * the value is not.
 */
public final class Values {

  private Values() {}

  /**
   * {@return an integer}
   *
   * @param option the option
   * @param text its value
   * @param minimum the smallest allowed value
   * @param maximum the largest allowed value
   */
  public static int integer(String option, String text, int minimum, int maximum) {
    return (int) longInteger(option, text, minimum, maximum);
  }

  /**
   * {@return an integer of 64 bits}
   *
   * @param option the option
   * @param text its value
   * @param minimum the smallest allowed value
   * @param maximum the largest allowed value
   */
  public static long longInteger(String option, String text, long minimum, long maximum) {
    Long value = Decimals.integer(text);
    if (value != null && value >= minimum && value <= maximum) {
      return value;
    }
    throw new UsageException(
        option,
        "must be an integer from "
            + minimum
            + " to "
            + maximum
            + ", not '"
            + Errors.shown(text)
            + "'");
  }

  /**
   * {@return a seed: any integer of 64 bits}
   *
   * @param option the option
   * @param text its value
   */
  public static long seed(String option, String text) {
    return longInteger(option, text, Long.MIN_VALUE, Long.MAX_VALUE);
  }

  /**
   * {@return a number}
   *
   * @param option the option
   * @param text its value
   * @param minimum the smallest allowed value
   * @param maximum the largest allowed value
   */
  public static double number(String option, String text, double minimum, double maximum) {
    Double value = Decimals.number(text);
    if (value != null && value >= minimum && value <= maximum) {
      return value;
    }
    throw new UsageException(
        option,
        String.format(
            Locale.ROOT,
            "must be a number from %s to %s, not '%s'",
            minimum,
            maximum,
            Errors.shown(text)));
  }

  /** True or false. */
  static boolean flag(String option, String text) {
    return choice(option, text, List.of(false, true), Object::toString);
  }

  /**
   * {@return one of the constants of an enum, by its name in lower case}
   *
   * @param option the option in error messages
   * @param text the name
   * @param type the enum
   * @param <E> the enum
   * @throws UsageException listing the names, if there is no such constant
   */
  public static <E extends Enum<E>> E choice(String option, String text, Class<E> type) {
    return choice(option, text, List.of(type.getEnumConstants()), Values::id);
  }

  /** The name of an enum constant on the command line. */
  static String id(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT);
  }

  /** One of several choices, by its name in any case. */
  static <T> T choice(String option, String text, List<T> choices, Function<T, String> name) {
    for (T choice : choices) {
      if (name.apply(choice).equalsIgnoreCase(text.strip())) {
        return choice;
      }
    }
    List<String> names = choices.stream().map(name).toList();
    throw new UsageException(
        option,
        "must be one of "
            + String.join(", ", names)
            + ", not '"
            + Errors.shown(text)
            + "'"
            + Suggestions.question(text.strip().toLowerCase(Locale.ROOT), names));
  }

  /**
   * {@return the values of a list, in order, each of which may appear once}
   *
   * @param <T> type of a value
   * @param option the option
   * @param text the values, separated by commas
   * @param read reads one value
   */
  public static <T> List<T> list(String option, String text, Function<String, T> read) {
    List<T> values = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      T value = read.apply(part.strip());
      if (values.contains(value)) {
        throw new UsageException(
            option, "must name each value once, not '" + Errors.shown(text) + "'");
      }
      values.add(value);
    }
    return values;
  }

  /**
   * {@return a path, whether or not the file exists}
   *
   * @param option the option
   * @param text its value
   */
  public static Path path(String option, String text) {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new UsageException(option, "must be a path, not '" + Errors.shown(text) + "'");
    }
  }

  /** A range like 3-8, or one number. */
  static IntRange range(String option, String text, int maximum) {
    String[] ends = text.strip().split("-", -1);
    Long from = Decimals.integer(ends[0]);
    Long to = Decimals.integer(ends[ends.length - 1]);
    if (ends.length <= 2
        && from != null
        && to != null
        && from >= 1
        && from <= to
        && to <= maximum) {
      return new IntRange(from.intValue(), to.intValue());
    }
    throw new UsageException(
        option,
        "must be MIN-MAX with 1 <= MIN <= MAX <= "
            + maximum
            + ", not '"
            + Errors.shown(text)
            + "'");
  }
}
