package io.kvasir.cli.option;

import io.kvasir.simulator.workload.IntRange;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/** Reads option values; what is wrong, the error says together with what is allowed. */
public final class Values {

  private Values() {}

  /** A whole number within bounds. */
  public static int integer(String option, String text, int minimum, int maximum) {
    return (int) whole(option, text, minimum, maximum);
  }

  /** A whole number of 64 bits within bounds. */
  public static long longInteger(String option, String text, long minimum, long maximum) {
    return whole(option, text, minimum, maximum);
  }

  /** Any whole number of 64 bits. */
  public static long seed(String option, String text) {
    return whole(option, text, Long.MIN_VALUE, Long.MAX_VALUE);
  }

  private static long whole(String option, String text, long minimum, long maximum) {
    try {
      long value = Long.parseLong(text.strip());
      if (value >= minimum && value <= maximum) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Falls through to the one message about this option.
    }
    throw new UsageException(
        option, "must be an integer from " + minimum + " to " + maximum + ", not '" + text + "'");
  }

  /** A number within bounds. */
  public static double number(String option, String text, double minimum, double maximum) {
    try {
      double value = Double.parseDouble(text.strip());
      if (value >= minimum && value <= maximum) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Falls through to the one message about this option.
    }
    throw new UsageException(
        option,
        String.format(
            Locale.ROOT, "must be a number from %s to %s, not '%s'", minimum, maximum, text));
  }

  /** True or false. */
  public static boolean flag(String option, String text) {
    return choice(option, text, List.of(false, true), Object::toString);
  }

  /** One of a list, by name. */
  public static <T> T choice(
      String option, String text, List<T> choices, Function<T, String> name) {
    for (T choice : choices) {
      if (name.apply(choice).equalsIgnoreCase(text.strip())) {
        return choice;
      }
    }
    throw new UsageException(
        option,
        "must be one of "
            + String.join(", ", choices.stream().map(name).toList())
            + ", not '"
            + text
            + "'");
  }

  /** Values between commas, each once. */
  public static <T> List<T> list(String option, String text, Function<String, T> read) {
    List<T> values = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      T value = read.apply(part.strip());
      if (values.contains(value)) {
        throw new UsageException(option, "must name each value once, not '" + text + "'");
      }
      values.add(value);
    }
    return values;
  }

  /** A range like 3-8, or one number. */
  public static IntRange range(String option, String text, int maximum) {
    String[] ends = text.strip().split("-", -1);
    try {
      if (ends.length <= 2) {
        int from = Integer.parseInt(ends[0].strip());
        int to = Integer.parseInt(ends[ends.length - 1].strip());
        if (from >= 1 && from <= to && to <= maximum) {
          return new IntRange(from, to);
        }
      }
    } catch (NumberFormatException e) {
      // Falls through to the one message about this option.
    }
    throw new UsageException(
        option, "must be MIN-MAX with 1 <= MIN <= MAX <= " + maximum + ", not '" + text + "'");
  }
}
