package io.kvasir.tokens.template;

import java.util.HashMap;
import java.util.Map;

/** All filters, by name. Stateless. */
final class Filters {

  /** What a filter does. */
  interface Filter {
    Object apply(Run run, Object value, Arguments arguments);
  }

  static final Map<String, Filter> ALL = all();

  private Filters() {}

  private static Map<String, Filter> all() {
    Map<String, Filter> all = new HashMap<>();
    TextFilters.addTo(all);
    NumberFilters.addTo(all);
    SequenceFilters.addTo(all);
    LazyFilters.addTo(all);
    OrderFilters.addTo(all);
    return Map.copyOf(all);
  }

  /** A filter that is named by a value. */
  static Filter named(Object name) {
    Filter filter = name instanceof String text ? ALL.get(text) : null;
    if (filter == null) {
      throw TemplateFault.unsupported("filter " + PythonValues.typeName(name) + " " + name);
    }
    return filter;
  }

  /** A filter whose arguments are bound to parameters. */
  static Filter bound(String name, String parameters, Bound filter) {
    Signature signature = Signature.of(name, parameters);
    return (run, value, arguments) -> filter.apply(run, value, signature.bind(arguments));
  }

  /** What a filter does with its arguments, {@link Missing} where none is given. */
  interface Bound {
    Object apply(Run run, Object value, Object[] arguments);
  }

  /** An argument, or another value where none is given. */
  static Object or(Object argument, Object otherwise) {
    return argument == Missing.MISSING ? otherwise : argument;
  }

  /** The truth of an argument that may be missing. */
  static boolean isSet(Object argument) {
    return argument != Missing.MISSING && PythonValues.isTrue(argument);
  }
}
