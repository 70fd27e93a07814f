package io.kvasir.model;

import java.util.Arrays;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Looks one of several things up by its name. Stateless. */
public final class Choice {

  private Choice() {}

  /**
   * Finds the one that has a name. O(choices).
   *
   * @param what what errors call it, for example {@code router}
   * @param choices those there are
   * @param name the name of one
   * @param wanted the name to look for
   * @param <T> what is chosen
   * @return the first that has that name
   * @throws IllegalArgumentException listing the names there are, if none has it
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
                Collectors.joining(", ", what + " must be one of ", ", not '" + wanted + "'")));
  }
}
