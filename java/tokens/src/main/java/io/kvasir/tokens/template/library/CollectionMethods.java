package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.DictView;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.Operators;
import io.kvasir.tokens.template.python.PythonDict;
import io.kvasir.tokens.template.python.PythonNumbers;
import io.kvasir.tokens.template.python.PythonOrder;
import io.kvasir.tokens.template.python.PythonText;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import java.util.List;
import java.util.Map;

/** Methods of dicts, lists and tuples. Stateless. */
final class CollectionMethods {

  private CollectionMethods() {}

  static Object callOfDict(Map<?, ?> map, String name, Arguments arguments) {
    switch (name) {
      case "get" -> {
        List<Object> values = arguments.only("get", 1, 2);
        Object found = PythonValues.find(map, values.get(0));
        return found != Missing.MISSING ? found : values.size() == 2 ? values.get(1) : None.NONE;
      }
      case "keys", "values", "items" -> {
        arguments.only(name, 0, 0);
        return new DictView(map, DictView.Part.valueOf(PythonText.upper(name)));
      }
      case "copy" -> {
        arguments.only(name, 0, 0);
        PythonDict copy = new PythonDict();
        map.forEach((key, value) -> copy.set(PythonValues.of(key), PythonValues.of(value)));
        return copy;
      }
      default -> throw TemplateFault.unsupported("method '" + name + "' of dicts");
    }
  }

  static Object callOfSequence(Budget budget, List<?> items, String name, Arguments arguments) {
    switch (name) {
      case "copy" -> {
        arguments.only(name, 0, 0);
        return Operators.list(budget, items);
      }
      case "count" -> {
        Object wanted = arguments.only(name, 1, 1).get(0);
        long count = 0;
        for (Object item : items) {
          count += PythonOrder.equal(budget, PythonValues.of(item), wanted) ? 1 : 0;
        }
        return count;
      }
      case "index" -> {
        List<Object> values = arguments.only(name, 1, 3);
        return index(budget, items, values);
      }
      default -> throw TemplateFault.unsupported("method '" + name + "' of lists");
    }
  }

  private static Object index(Budget budget, List<?> items, List<Object> values) {
    long from = values.size() > 1 ? bound(values.get(1), items.size()) : 0;
    long to = values.size() > 2 ? bound(values.get(2), items.size()) : items.size();
    for (int i = (int) from; i < to; i++) {
      if (PythonOrder.equal(budget, PythonValues.of(items.get(i)), values.get(0))) {
        return (long) i;
      }
    }
    throw TemplateFault.error("the value is not in the list");
  }

  private static long bound(Object value, int size) {
    long bound = PythonNumbers.bounded(value, "index");
    return Math.max(0, Math.min(size, bound < 0 ? bound + size : bound));
  }
}
