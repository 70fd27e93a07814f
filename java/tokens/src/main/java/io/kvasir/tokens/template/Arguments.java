package io.kvasir.tokens.template;

import java.util.List;
import java.util.Map;

/**
 * Arguments of a call. Immutable, as far as its values are.
 *
 * @param positional in order
 * @param named in order
 */
record Arguments(List<Object> positional, Map<String, Object> named) {

  static final Arguments NO_ARGUMENTS = new Arguments(List.of(), Map.of());

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
  List<Object> only(String function, int least, int most) {
    if (!named.isEmpty()) {
      throw TemplateFault.error(function + "() takes no keyword arguments");
    }
    if (positional.size() < least || positional.size() > most) {
      throw TemplateFault.error(function + "() does not take " + positional.size() + " arguments");
    }
    return positional;
  }
}
