package io.kvasir.tokens.template;

import java.util.List;
import java.util.Map;

/**
 * Attributes and methods of dicts, lists and tuples. Those that change them are refused. Stateless.
 */
final class CollectionMethods {

  private CollectionMethods() {}

  static Object ofDict(Map<?, ?> map, String name) {
    if (!PythonAttributes.DICT.contains(name)) {
      return Missing.MISSING;
    }
    return PythonAttributes.DICT_CHANGES.contains(name)
        ? unsafe(name, "dict")
        : new BoundMethod(map, name);
  }

  static Object ofList(List<?> list, String name) {
    if (!PythonAttributes.LIST.contains(name)) {
      return Missing.MISSING;
    }
    return PythonAttributes.LIST_CHANGES.contains(name)
        ? unsafe(name, "list")
        : new BoundMethod(list, name);
  }

  static Object ofTuple(PythonTuple tuple, String name) {
    return name.equals("count") || name.equals("index")
        ? new BoundMethod(tuple, name)
        : Missing.MISSING;
  }

  private static Undefined unsafe(String name, String type) {
    return new Undefined("access to attribute '" + name + "' of '" + type + "' object is unsafe.");
  }

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

  static Object callOfSequence(Run run, List<?> items, String name, Arguments arguments) {
    switch (name) {
      case "copy" -> {
        arguments.only(name, 0, 0);
        return SequenceFilters.list(run, items);
      }
      case "count" -> {
        Object wanted = arguments.only(name, 1, 1).get(0);
        long count = 0;
        for (Object item : items) {
          count += PythonOrder.equal(run, PythonValues.of(item), wanted) ? 1 : 0;
        }
        return count;
      }
      case "index" -> {
        List<Object> values = arguments.only(name, 1, 3);
        return index(run, items, values);
      }
      default -> throw TemplateFault.unsupported("method '" + name + "' of lists");
    }
  }

  private static Object index(Run run, List<?> items, List<Object> values) {
    long from = values.size() > 1 ? bound(values.get(1), items.size()) : 0;
    long to = values.size() > 2 ? bound(values.get(2), items.size()) : items.size();
    for (int i = (int) from; i < to; i++) {
      if (PythonOrder.equal(run, PythonValues.of(items.get(i)), values.get(0))) {
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
