package io.kvasir.model;

import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Finds one of several options by its name. Stateless. */
public final class Choice {

  private Choice() {}

  /**
   * Finds an option by its name. O(choices).
   *
   * @param what the kind of option in error messages, for example {@code router}
   * @param choices the options
   * @param name returns an option's name
   * @param wanted the name to look for
   * @param <T> type of the options
   * @return the first option with that name
   * @throws IllegalArgumentException listing all names, if no option has the wanted one
   */
  public static <T> T named(
      String what, T[] choices, Function<? super T, String> name, String wanted) {
    for (T choice : choices) {
      if (name.apply(choice).equals(wanted)) {
        return choice;
      }
    }
    throw new IllegalArgumentException(
        Arrays.stream(choices)
            .map(name)
            .collect(
                Collectors.joining(
                    ", ", what + " must be one of ", ", not '" + Errors.shown(wanted) + "'")));
  }
}
