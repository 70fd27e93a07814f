package io.kvasir.tokens.template;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Filters of sequences and mappings whose results are complete. Stateless. */
final class SequenceFilters {

  private SequenceFilters() {}

  static void addTo(Map<String, Filters.Filter> all) {
    Filters.Filter length =
        Filters.bound("length", "", (run, value, none) -> PythonValues.length(value));
    all.put("length", length);
    all.put("count", length);
    Filters.Filter otherwise =
        Filters.bound("default", "default_value? boolean?", SequenceFilters::otherwise);
    all.put("default", otherwise);
    all.put("d", otherwise);
    all.put("list", Filters.bound("list", "", (run, value, none) -> list(run, value)));
    all.put("first", Filters.bound("first", "", (run, value, none) -> first(value)));
    all.put("last", Filters.bound("last", "", (run, value, none) -> last(run, value)));
    all.put("reverse", Filters.bound("reverse", "", (run, value, none) -> reverse(run, value)));
    all.put("sum", Filters.bound("sum", "attribute? start?", SequenceFilters::sum));
    all.put("attr", Filters.bound("attr", "name", (run, value, name) -> attribute(value, name[0])));
  }

  private static Object otherwise(Run run, Object value, Object[] arguments) {
    boolean replaced =
        value instanceof Undefined || (Filters.isSet(arguments[1]) && !PythonValues.isTrue(value));
    return replaced ? Filters.or(arguments[0], "") : value;
  }

  static List<Object> list(Run run, Object value) {
    List<Object> items = new ArrayList<>();
    Operators.addAll(run, items, PythonValues.iterator(value));
    return items;
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

  private static Object last(Run run, Object value) {
    if (!isReversible(value)) {
      throw TemplateFault.error("'" + PythonValues.typeName(value) + "' object is not reversible");
    }
    List<Object> items = list(run, value);
    return items.isEmpty()
        ? new Undefined("No last item, sequence was empty.")
        : items.get(items.size() - 1);
  }

  private static Object reverse(Run run, Object value) {
    if (value instanceof Markup) {
      throw TemplateFault.unsupported("filters of text that is marked as safe");
    }
    if (value instanceof String text) {
      run.work(text.length());
      return Subscripts.slice(run, text, None.NONE, None.NONE, -1L);
    }
    if (!PythonValues.isIterable(value)) {
      throw TemplateFault.error("argument must be iterable");
    }
    List<Object> items = list(run, value);
    Collections.reverse(items);
    return isReversible(value) ? new PythonIterator(items.iterator()) : items;
  }

  private static Object sum(Run run, Object value, Object[] arguments) {
    Object sum = Filters.or(arguments[1], 0L);
    if (sum instanceof String) {
      throw TemplateFault.error("sum() can't sum strings");
    }
    Object attribute = Filters.or(arguments[0], None.NONE);
    Attributes path = Attributes.of(attribute, None.NONE);
    Iterator<Object> items = PythonValues.iterator(value);
    while (items.hasNext()) {
      sum = Operators.binary(run, "+", sum, path.of(items.next()));
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
    Object found = PythonValues.attribute(value, text);
    if (found == Missing.MISSING && value instanceof Undefined undefined) {
      throw undefined.used();
    }
    return found == Missing.MISSING ? PythonValues.noMember(value, text) : found;
  }
}
