package io.kvasir.tokens.template;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Equality, order and containment of values. Stateless. */
final class PythonOrder {

  private PythonOrder() {}

  static boolean equal(Run run, Object left, Object right) {
    return equal(run, left, right, 0);
  }

  private static boolean equal(Run run, Object left, Object right, int depth) {
    run.step();
    if (PythonNumbers.isNumber(left) && PythonNumbers.isNumber(right)) {
      return !isNan(left) && !isNan(right) && compareNumbers(left, right) == 0;
    }
    if (left instanceof Markup markup) {
      return equal(run, markup.text(), right, depth);
    }
    if (right instanceof Markup markup) {
      return equal(run, left, markup.text(), depth);
    }
    if (left instanceof Undefined) {
      return right instanceof Undefined;
    }
    if (left instanceof Map<?, ?> a && right instanceof Map<?, ?> b) {
      return a == b || equalMaps(run, a, b, depth);
    }
    if ((left instanceof List && right instanceof List)
        || (left instanceof PythonTuple && right instanceof PythonTuple)) {
      return left == right || equalItems(run, left, right, depth);
    }
    if (left instanceof DictView a && right instanceof DictView b) {
      if (a.part() != DictView.Part.VALUES && b.part() != DictView.Part.VALUES) {
        throw TemplateFault.unsupported("comparing views of dicts");
      }
      return left == right;
    }
    if (left instanceof String a && right instanceof String b && a.length() == b.length()) {
      run.work(a.length());
    }
    return left.equals(right);
  }

  private static boolean equalItems(Run run, Object left, Object right, int depth) {
    PythonValues.checkDepth(depth);
    if (PythonValues.length(left) != PythonValues.length(right)) {
      return false;
    }
    Iterator<Object> a = PythonValues.iterator(left);
    Iterator<Object> b = PythonValues.iterator(right);
    while (a.hasNext()) {
      if (!same(run, a.next(), b.next(), depth + 1)) {
        return false;
      }
    }
    return true;
  }

  /** Items of containers are equal if they are the same object, even if that is not a number. */
  private static boolean same(Run run, Object left, Object right, int depth) {
    return left == right || equal(run, left, right, depth);
  }

  private static boolean equalMaps(Run run, Map<?, ?> left, Map<?, ?> right, int depth) {
    PythonValues.checkDepth(depth);
    if (left.size() != right.size()) {
      return false;
    }
    for (Map.Entry<?, ?> entry : left.entrySet()) {
      Object other = PythonValues.find(right, PythonValues.of(entry.getKey()));
      if (other == Missing.MISSING
          || !same(run, PythonValues.of(entry.getValue()), other, depth + 1)) {
        return false;
      }
    }
    return true;
  }

  private static boolean isNan(Object number) {
    return number instanceof Double value && Double.isNaN(value);
  }

  /** Neither is NaN. */
  private static int compareNumbers(Object left, Object right) {
    if (left instanceof Long a && right instanceof Long b) {
      return Long.compare(a, b);
    }
    if (left instanceof Double a && right instanceof Double b) {
      return a < b ? -1 : a > b ? 1 : 0;
    }
    if (left instanceof Double a && Double.isInfinite(a)) {
      return a > 0 ? 1 : -1;
    }
    if (right instanceof Double b && Double.isInfinite(b)) {
      return b > 0 ? -1 : 1;
    }
    return exact(left).compareTo(exact(right));
  }

  private static BigDecimal exact(Object number) {
    if (number instanceof Double value) {
      return new BigDecimal(value);
    }
    return number instanceof BigInteger large
        ? new BigDecimal(large)
        : BigDecimal.valueOf(PythonNumbers.toLong(number));
  }

  /** {@code left operator right} for one of {@code < <= > >=}. */
  static boolean ordered(Run run, String operator, Object left, Object right) {
    return ordered(run, operator, left, right, 0);
  }

  private static boolean ordered(Run run, String operator, Object left, Object right, int depth) {
    run.step();
    if (PythonNumbers.isNumber(left) && PythonNumbers.isNumber(right)) {
      return !isNan(left) && !isNan(right) && holds(operator, compareNumbers(left, right));
    }
    if (isText(left) && isText(right)) {
      run.work(PythonValues.length(left));
      return holds(
          operator, PythonText.compare(PythonRepr.text(left, run), PythonRepr.text(right, run)));
    }
    if ((left instanceof List && right instanceof List)
        || (left instanceof PythonTuple && right instanceof PythonTuple)) {
      return orderedItems(run, operator, left, right, depth);
    }
    if (left instanceof Undefined undefined) {
      throw undefined.used();
    }
    if (right instanceof Undefined undefined) {
      throw undefined.used();
    }
    if (left instanceof DictView && right instanceof DictView) {
      throw TemplateFault.unsupported("comparing views of dicts");
    }
    throw TemplateFault.error(
        "'%s' not supported between instances of '%s' and '%s'"
            .formatted(operator, PythonValues.typeName(left), PythonValues.typeName(right)));
  }

  private static boolean isText(Object value) {
    return value instanceof String || value instanceof Markup;
  }

  private static boolean orderedItems(
      Run run, String operator, Object left, Object right, int depth) {
    PythonValues.checkDepth(depth);
    Iterator<Object> a = PythonValues.iterator(left);
    Iterator<Object> b = PythonValues.iterator(right);
    while (a.hasNext() && b.hasNext()) {
      Object one = a.next();
      Object other = b.next();
      if (!same(run, one, other, depth + 1)) {
        return ordered(run, operator, one, other, depth + 1);
      }
    }
    return holds(operator, Boolean.compare(a.hasNext(), b.hasNext()));
  }

  private static boolean holds(String operator, int comparison) {
    return switch (operator) {
      case "<" -> comparison < 0;
      case "<=" -> comparison <= 0;
      case ">" -> comparison > 0;
      default -> comparison >= 0;
    };
  }

  /** {@code item in container}. */
  static boolean contains(Run run, Object container, Object item) {
    if (container instanceof String || container instanceof Markup) {
      if (!isText(item)) {
        throw TemplateFault.error(
            "'in <string>' requires string as left operand, not " + PythonValues.typeName(item));
      }
      String text = PythonRepr.text(container, run);
      return TextSearch.forward(run, text, PythonRepr.text(item, run)).next(0) >= 0;
    }
    if (container instanceof Map<?, ?> map) {
      return PythonValues.find(map, item) != Missing.MISSING;
    }
    if (container instanceof DictView view && view.part() == DictView.Part.KEYS) {
      return PythonValues.find(view.map(), item) != Missing.MISSING;
    }
    Iterator<Object> items = PythonValues.iterator(container);
    while (items.hasNext()) {
      if (same(run, items.next(), item, 0)) {
        return true;
      }
    }
    return false;
  }

  /** Sorted by keys, stable. Python's own sort compares no other way than by {@code <}. */
  static List<Integer> sorted(Run run, List<Object> keys, boolean descending) {
    List<Integer> order = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      order.add(i);
    }
    return sorted(run, keys, order, descending);
  }

  private static List<Integer> sorted(
      Run run, List<Object> keys, List<Integer> order, boolean descending) {
    if (order.size() < 2) {
      return order;
    }
    int half = order.size() / 2;
    List<Integer> left = sorted(run, keys, order.subList(0, half), descending);
    List<Integer> right = sorted(run, keys, order.subList(half, order.size()), descending);
    List<Integer> merged = new ArrayList<>(order.size());
    int i = 0;
    int k = 0;
    while (i < left.size() && k < right.size()) {
      Object a = keys.get(left.get(i));
      Object b = keys.get(right.get(k));
      boolean swaps = descending ? ordered(run, "<", a, b) : ordered(run, "<", b, a);
      merged.add(swaps ? right.get(k++) : left.get(i++));
    }
    merged.addAll(left.subList(i, left.size()));
    merged.addAll(right.subList(k, right.size()));
    return merged;
  }
}
