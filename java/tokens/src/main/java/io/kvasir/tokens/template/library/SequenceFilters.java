package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.DictView;
import io.kvasir.tokens.template.python.Markup;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.Operators;
import io.kvasir.tokens.template.python.PythonAttributes;
import io.kvasir.tokens.template.python.PythonIterator;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.Subscripts;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.python.Undefined;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Filters of sequences and mappings whose results are complete. Stateless. */
final class SequenceFilters {

  private SequenceFilters() {}

  static void addTo(Map<String, Filters.Filter> all) {
    Filters.Filter length =
        Filters.bound("length", "", (budget, value, none) -> PythonValues.length(value));
    all.put("length", length);
    all.put("count", length);
    Filters.Filter otherwise =
        Filters.bound("default", "default_value? boolean?", SequenceFilters::otherwise);
    all.put("default", otherwise);
    all.put("d", otherwise);
    all.put(
        "list", Filters.bound("list", "", (budget, value, none) -> Operators.list(budget, value)));
    all.put("first", Filters.bound("first", "", (budget, value, none) -> first(value)));
    all.put("last", Filters.bound("last", "", (budget, value, none) -> last(budget, value)));
    all.put(
        "reverse", Filters.bound("reverse", "", (budget, value, none) -> reverse(budget, value)));
    all.put("sum", Filters.bound("sum", "attribute? start?", SequenceFilters::sum));
    all.put(
        "attr", Filters.bound("attr", "name", (budget, value, name) -> attribute(value, name[0])));
  }

  private static Object otherwise(Budget budget, Object value, Object[] arguments) {
    boolean replaced =
        value instanceof Undefined
            || (Arguments.isSet(arguments[1]) && !PythonValues.isTrue(value));
    return replaced ? Arguments.or(arguments[0], "") : value;
  }

  private static Object first(Object value) {
    Iterator<Object> items = PythonValues.iterator(value);
    return items.hasNext() ? items.next() : new Undefined("No first item, sequence was empty.");
  }

  /** Whether Python's {@code reversed()} takes it. */
  private static boolean isReversible(Object value) {
    return Subscripts.isSequence(value)
        || value instanceof Map
        || value instanceof DictView
        || value instanceof Undefined;
  }

  private static Object last(Budget budget, Object value) {
    if (!isReversible(value)) {
      throw TemplateFault.error("'" + PythonValues.typeName(value) + "' object is not reversible");
    }
    List<Object> items = Operators.list(budget, value);
    return items.isEmpty()
        ? new Undefined("No last item, sequence was empty.")
        : items.get(items.size() - 1);
  }

  private static Object reverse(Budget budget, Object value) {
    if (value instanceof Markup) {
      throw TemplateFault.unsupported("filters of text that is marked as safe");
    }
    if (value instanceof String text) {
      budget.work(text.length());
      return Subscripts.slice(budget, text, None.NONE, None.NONE, -1L);
    }
    if (!PythonValues.isIterable(value)) {
      throw TemplateFault.error("argument must be iterable");
    }
    List<Object> items = Operators.list(budget, value);
    Collections.reverse(items);
    return isReversible(value) ? new PythonIterator(items.iterator()) : items;
  }

  private static Object sum(Budget budget, Object value, Object[] arguments) {
    Object sum = Arguments.or(arguments[1], 0L);
    if (sum instanceof String) {
      throw TemplateFault.error("sum() can't sum strings");
    }
    Object attribute = Arguments.or(arguments[0], None.NONE);
    Attributes path = Attributes.of(attribute, None.NONE);
    Iterator<Object> items = PythonValues.iterator(value);
    while (items.hasNext()) {
      sum = Operators.binary(budget, "+", sum, path.of(budget, items.next()));
    }
    return sum;
  }

  private static Object attribute(Object value, Object name) {
    if (!(name instanceof String text)) {
      throw TemplateFault.error("attribute name must be string");
    }
    if (text.startsWith("__")) {
      throw TemplateFault.unsupported("attribute '" + text + "'");
    }
    Object found = PythonAttributes.of(value, text);
    if (found == Missing.MISSING && value instanceof Undefined undefined) {
      throw undefined.used();
    }
    return found == Missing.MISSING ? PythonValues.noMember(value, text) : found;
  }
}
