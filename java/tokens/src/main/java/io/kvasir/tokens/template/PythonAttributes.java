package io.kvasir.tokens.template;

import java.util.Set;

/**
 * The public attributes of Python's own types. An attribute in these lists wins over an item of the
 * same name, whether or not Kvasir can call it. Stateless.
 */
final class PythonAttributes {

  static final Set<String> STR =
      names(
          "capitalize casefold center count encode endswith expandtabs find format format_map index"
              + " isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric"
              + " isprintable isspace istitle isupper join ljust lower lstrip maketrans partition"
              + " removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip"
              + " split splitlines startswith strip swapcase title translate upper zfill");

  /** Methods of strings that Kvasir does not have. */
  static final Set<String> STR_UNKNOWN =
      names(
          "casefold encode expandtabs format_map isidentifier isnumeric istitle maketrans swapcase"
              + " translate");

  static final Set<String> LIST =
      names("append clear copy count extend index insert pop remove reverse sort");
  static final Set<String> LIST_CHANGES =
      names("append clear extend insert pop remove reverse sort");
  static final Set<String> DICT =
      names("clear copy fromkeys get items keys pop popitem setdefault update values");
  static final Set<String> DICT_CHANGES = names("clear pop popitem setdefault update");
  static final Set<String> INT =
      names(
          "as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag is_integer"
              + " numerator real to_bytes");
  static final Set<String> FLOAT =
      names("as_integer_ratio conjugate fromhex hex imag is_integer real");
  static final Set<String> GENERATOR =
      names("close gi_code gi_frame gi_running gi_suspended gi_yieldfrom send throw");

  /** What can be called on values, besides what a namespace or a loop has. */
  static boolean isMethod(String name) {
    return (STR.contains(name) && !STR_UNKNOWN.contains(name))
        || LIST.contains(name)
        || DICT.contains(name)
        || INT.contains(name)
        || FLOAT.contains(name)
        || OTHERS.contains(name);
  }

  private static final Set<String> OTHERS = names("cycle changed next reset isdisjoint");

  private PythonAttributes() {}

  private static Set<String> names(String names) {
    return Set.of(names.split(" ", -1));
  }
}
