package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.DictView;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.Operators;
import io.kvasir.tokens.template.python.PythonOrder;
import io.kvasir.tokens.template.python.PythonTuple;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.python.Undefined;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Filters that compare items. Stateless. */
final class OrderFilters {

  private OrderFilters() {}

  static void addTo(Map<String, Filters.Filter> all) {
    all.put(
        "sort", Filters.bound("sort", "reverse? case_sensitive? attribute?", OrderFilters::sort));
    all.put(
        "dictsort",
        Filters.bound("dictsort", "case_sensitive? by? reverse?", OrderFilters::dictsort));
    all.put(
        "groupby",
        Filters.bound("groupby", "attribute default? case_sensitive?", OrderFilters::groupby));
    all.put(
        "min",
        Filters.bound(
            "min",
            "case_sensitive? attribute?",
            (budget, value, arguments) -> extreme(budget, value, arguments, "<")));
    all.put(
        "max",
        Filters.bound(
            "max",
            "case_sensitive? attribute?",
            (budget, value, arguments) -> extreme(budget, value, arguments, ">")));
  }

  private static Object sort(Budget budget, Object value, Object[] arguments) {
    boolean caseSensitive = Arguments.isSet(arguments[1]);
    List<Attributes> paths = new ArrayList<>();
    Object attribute = Arguments.or(arguments[2], None.NONE);
    if (attribute instanceof String text) {
      for (String part : text.split(",", -1)) {
        paths.add(Attributes.of(part, None.NONE));
      }
    } else {
      paths.add(Attributes.of(attribute, None.NONE));
    }
    List<Object> items = Operators.list(budget, value);
    List<Object> keys = new ArrayList<>();
    for (Object item : items) {
      List<Object> key = new ArrayList<>();
      for (Attributes path : paths) {
        key.add(path.key(budget, item, caseSensitive));
      }
      keys.add(key);
    }
    return inOrder(budget, items, keys, arguments[0]);
  }

  private static List<Object> inOrder(
      Budget budget, List<Object> items, List<Object> keys, Object descending) {
    List<Object> sorted = new ArrayList<>(items.size());
    for (int index : PythonOrder.sorted(budget, keys, Arguments.isSet(descending))) {
      sorted.add(items.get(index));
    }
    return sorted;
  }

  private static Object dictsort(Budget budget, Object value, Object[] arguments) {
    Object by = Arguments.or(arguments[1], "key");
    if (!by.equals("key") && !by.equals("value")) {
      throw TemplateFault.error("You can only sort by either \"key\" or \"value\"");
    }
    if (value instanceof Undefined undefined) {
      throw undefined.used();
    }
    if (!(value instanceof Map<?, ?> map)) {
      throw TemplateFault.error(
          "'" + PythonValues.typeName(value) + "' object has no attribute 'items'");
    }
    boolean caseSensitive = Arguments.isSet(arguments[0]);
    Attributes path = Attributes.of(by.equals("key") ? 0L : 1L, None.NONE);
    List<Object> items = Operators.list(budget, new DictView(map, DictView.Part.ITEMS));
    List<Object> keys = new ArrayList<>();
    items.forEach(item -> keys.add(path.key(budget, item, caseSensitive)));
    return inOrder(budget, items, keys, arguments[2]);
  }

  private static Object groupby(Budget budget, Object value, Object[] arguments) {
    Object otherwise = Arguments.or(arguments[1], None.NONE);
    boolean caseSensitive = Arguments.isSet(arguments[2]);
    Attributes path = Attributes.of(arguments[0], otherwise);
    List<Object> items = Operators.list(budget, value);
    List<Object> keys = new ArrayList<>();
    items.forEach(item -> keys.add(path.key(budget, item, caseSensitive)));
    List<Object> groups = new ArrayList<>();
    List<Object> group = List.of();
    Object key = Missing.MISSING;
    for (int index : PythonOrder.sorted(budget, keys, false)) {
      if (key == Missing.MISSING || !PythonOrder.equal(budget, key, keys.get(index))) {
        key = keys.get(index);
        group = new ArrayList<>();
        Object grouper = caseSensitive ? key : path.of(budget, items.get(index));
        groups.add(new PythonTuple(List.of(grouper, group), true));
      }
      group.add(items.get(index));
    }
    return groups;
  }

  private static Object extreme(Budget budget, Object value, Object[] arguments, String operator) {
    Attributes path = Attributes.of(Arguments.or(arguments[1], None.NONE), None.NONE);
    boolean caseSensitive = Arguments.isSet(arguments[0]);
    Iterator<Object> items = PythonValues.iterator(value);
    if (!items.hasNext()) {
      return new Undefined("No aggregated item, sequence was empty.");
    }
    Object best = items.next();
    Object bestKey = path.key(budget, best, caseSensitive);
    while (items.hasNext()) {
      Object item = items.next();
      Object key = path.key(budget, item, caseSensitive);
      if (PythonOrder.ordered(budget, operator, key, bestKey)) {
        best = item;
        bestKey = key;
      }
    }
    return best;
  }
}
