package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import java.util.HashMap;
import java.util.Map;

/** All filters, by name. Stateless. */
public final class Filters {

  /** What a filter does. */
  public interface Filter {
    Object apply(Budget budget, Object value, Arguments arguments);
  }

  public static final Map<String, Filter> ALL = all();

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
    return (budget, value, arguments) -> filter.apply(budget, value, signature.bind(arguments));
  }

  /** What a filter does with its arguments, {@link Missing} where none is given. */
  interface Bound {
    Object apply(Budget budget, Object value, Object[] arguments);
  }
}
