package io.kvasir.tokens.template.python;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What stands for a value in a hash table: equal in Java if the values are equal in Python.
 * Stateless.
 */
public final class PythonHash {

  /** A key in the place of a tuple. */
  private record TupleKey(List<Object> items) {}

  private PythonHash() {}

  public static Object key(Object value) {
    return key(value, 0);
  }

  private static Object key(Object value, int depth) {
    if (value instanceof String || value instanceof Long) {
      return value;
    }
    if (value instanceof Boolean truth) {
      return truth ? 1L : 0L;
    }
    if (value instanceof Double number) {
      return number(number);
    }
    if (value instanceof Markup markup) {
      return markup.text();
    }
    if (value instanceof Undefined) {
      return Undefined.class;
    }
    if (value instanceof DictView view && view.part() == DictView.Part.VALUES) {
      throw TemplateFault.unsupported("the values of a dict as a key");
    }
    if (value instanceof List || value instanceof Map || value instanceof DictView) {
      throw TemplateFault.error("unhashable type: '" + PythonValues.typeName(value) + "'");
    }
    if (value instanceof PythonTuple tuple) {
      PythonValues.checkDepth(depth);
      List<Object> items = new ArrayList<>(tuple.items().size());
      for (Object item : tuple.items()) {
        items.add(key(item, depth + 1));
      }
      return new TupleKey(items);
    }
    return value;
  }

  private static Object number(double number) {
    if (number == Math.rint(number) && !Double.isInfinite(number)) {
      return Math.abs(number) < 1e18
          ? (Object) (long) number
          : PythonNumbers.integer(new BigDecimal(number).toBigIntegerExact());
    }
    return number;
  }
}
