package io.kvasir.tokens.template.python;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The public attributes of Python's own types. An attribute in these lists wins over an item of the
 * same name, whether or not Kvasir can call it. Stateless.
 */
public final class PythonAttributes {

  static final Set<String> STR =
      names(
          "capitalize casefold center count encode endswith expandtabs find format format_map index"
              + " isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric"
              + " isprintable isspace istitle isupper join ljust lower lstrip maketrans partition"
              + " removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip"
              + " split splitlines startswith strip swapcase title translate upper zfill");

  /** Methods of strings that Kvasir does not have. */
  public static final Set<String> STR_UNKNOWN =
      names(
          "casefold encode expandtabs format_map isidentifier isnumeric istitle maketrans swapcase"
              + " translate");

  private static final Set<String> LIST =
      names("append clear copy count extend index insert pop remove reverse sort");
  private static final Set<String> LIST_CHANGES =
      names("append clear extend insert pop remove reverse sort");
  private static final Set<String> DICT =
      names("clear copy fromkeys get items keys pop popitem setdefault update values");
  private static final Set<String> DICT_CHANGES = names("clear pop popitem setdefault update");
  private static final Set<String> INT =
      names(
          "as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag is_integer"
              + " numerator real to_bytes");
  private static final Set<String> FLOAT =
      names("as_integer_ratio conjugate fromhex hex imag is_integer real");
  static final Set<String> GENERATOR =
      names("close gi_code gi_frame gi_running gi_suspended gi_yieldfrom send throw");

  /** What can be called on values, besides what a namespace or a loop has. */
  public static boolean isMethod(String name) {
    return (STR.contains(name) && !STR_UNKNOWN.contains(name))
        || LIST.contains(name)
        || DICT.contains(name)
        || INT.contains(name)
        || FLOAT.contains(name)
        || OTHERS.contains(name);
  }

  private static final Set<String> OTHERS = names("cycle changed next reset isdisjoint");

  private PythonAttributes() {}

  /** An attribute in Python's own sense, {@link Missing} if there is none. */
  public static Object of(Object value, String name) {
    if (value instanceof PythonValue other) {
      return other.attribute(name);
    }
    if (value instanceof Map<?, ?>) {
      return method(value, name, DICT, DICT_CHANGES);
    }
    if (value instanceof String) {
      return method(value, name, STR, Set.of());
    }
    if (value instanceof List<?>) {
      return method(value, name, LIST, LIST_CHANGES);
    }
    return ofNumber(value, name);
  }

  /** A method; those that change the value are not safe, which makes them undefined. */
  private static Object method(Object value, String name, Set<String> all, Set<String> changes) {
    if (changes.contains(name)) {
      return new Undefined(
          "access to attribute '%s' of '%s' object is unsafe."
              .formatted(name, PythonValues.typeName(value)));
    }
    return all.contains(name) ? new BoundMethod(value, name) : Missing.MISSING;
  }

  private static Object ofNumber(Object number, String name) {
    if (number instanceof Double value) {
      if (!FLOAT.contains(name)) {
        return Missing.MISSING;
      }
      return switch (name) {
        case "real" -> value;
        case "imag" -> 0.0;
        case "is_integer" -> new BoundMethod(value, name);
        default -> throw TemplateFault.unsupported("attribute '" + name + "' of floats");
      };
    }
    if (!INT.contains(name)) {
      return Missing.MISSING;
    }
    return switch (name) {
      case "real", "numerator" -> PythonNumbers.integer(PythonNumbers.big(number));
      case "imag" -> 0L;
      case "denominator" -> 1L;
      default -> throw TemplateFault.unsupported("attribute '" + name + "' of integers");
    };
  }

  private static Set<String> names(String names) {
    return Set.of(names.split(" ", -1));
  }
}
