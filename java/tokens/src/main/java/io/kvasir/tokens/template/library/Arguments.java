package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import java.util.List;
import java.util.Map;

/**
 * Arguments of a call. Immutable, as far as its values are.
 *
 * @param positional in order
 * @param named in order
 */
public record Arguments(List<Object> positional, Map<String, Object> named) {

  public static final Arguments NO_ARGUMENTS = new Arguments(List.of(), Map.of());

  /** An argument, or another value where none is given. */
  static Object or(Object argument, Object otherwise) {
    return argument == Missing.MISSING ? otherwise : argument;
  }

  /** The truth of an argument that may be missing. */
  static boolean isSet(Object argument) {
    return argument != Missing.MISSING && PythonValues.isTrue(argument);
  }

  static Arguments of(Object... positional) {
    return new Arguments(List.of(positional), Map.of());
  }

  int count() {
    return positional.size() + named.size();
  }

  /** Arguments behind the first ones. */
  Arguments from(int first) {
    return new Arguments(positional.subList(first, positional.size()), named);
  }

  /** The positional ones, if their number is right and no others are given. */
  public List<Object> only(String function, int least, int most) {
    if (!named.isEmpty()) {
      throw TemplateFault.error(function + "() takes no keyword arguments");
    }
    if (positional.size() < least || positional.size() > most) {
      throw TemplateFault.error(function + "() does not take " + positional.size() + " arguments");
    }
    return positional;
  }
}
