package io.kvasir.tokens.template.python;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Equality, order and containment of values. Stateless. */
public final class PythonOrder {

  private PythonOrder() {}

  public static boolean equal(Budget budget, Object left, Object right) {
    return equal(budget, left, right, 0);
  }

  private static boolean equal(Budget budget, Object left, Object right, int depth) {
    budget.step();
    if (PythonNumbers.isNumber(left) && PythonNumbers.isNumber(right)) {
      return !isNan(left) && !isNan(right) && compareNumbers(left, right) == 0;
    }
    if (left instanceof Markup markup) {
      return equal(budget, markup.text(), right, depth);
    }
    if (right instanceof Markup markup) {
      return equal(budget, left, markup.text(), depth);
    }
    if (left instanceof Undefined) {
      return right instanceof Undefined;
    }
    if (left instanceof Map<?, ?> a && right instanceof Map<?, ?> b) {
      return a == b || equalMaps(budget, a, b, depth);
    }
    if ((left instanceof List && right instanceof List)
        || (left instanceof PythonTuple && right instanceof PythonTuple)) {
      return left == right || equalItems(budget, left, right, depth);
    }
    if (left instanceof DictView a && right instanceof DictView b) {
      if (a.part() != DictView.Part.VALUES && b.part() != DictView.Part.VALUES) {
        throw TemplateFault.unsupported("comparing views of dicts");
      }
      return left == right;
    }
    if (left instanceof String a && right instanceof String b && a.length() == b.length()) {
      budget.work(a.length());
    }
    return left.equals(right);
  }

  private static boolean equalItems(Budget budget, Object left, Object right, int depth) {
    PythonValues.checkDepth(depth);
    if (PythonValues.length(left) != PythonValues.length(right)) {
      return false;
    }
    Iterator<Object> a = PythonValues.iterator(left);
    Iterator<Object> b = PythonValues.iterator(right);
    while (a.hasNext()) {
      if (!same(budget, a.next(), b.next(), depth + 1)) {
        return false;
      }
    }
    return true;
  }

  /** Items of containers are equal if they are the same object, even if that is not a number. */
  private static boolean same(Budget budget, Object left, Object right, int depth) {
    return left == right || equal(budget, left, right, depth);
  }

  private static boolean equalMaps(Budget budget, Map<?, ?> left, Map<?, ?> right, int depth) {
    PythonValues.checkDepth(depth);
    if (left.size() != right.size()) {
      return false;
    }
    for (Map.Entry<?, ?> entry : left.entrySet()) {
      Object other = PythonValues.find(right, PythonValues.of(entry.getKey()));
      if (other == Missing.MISSING
          || !same(budget, PythonValues.of(entry.getValue()), other, depth + 1)) {
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
  public static boolean ordered(Budget budget, String operator, Object left, Object right) {
    return ordered(budget, operator, left, right, 0);
  }

  private static boolean ordered(
      Budget budget, String operator, Object left, Object right, int depth) {
    budget.step();
    if (PythonNumbers.isNumber(left) && PythonNumbers.isNumber(right)) {
      return !isNan(left) && !isNan(right) && holds(operator, compareNumbers(left, right));
    }
    if (isText(left) && isText(right)) {
      budget.work(PythonValues.length(left));
      return holds(
          operator,
          PythonText.compare(PythonRepr.text(left, budget), PythonRepr.text(right, budget)));
    }
    if ((left instanceof List && right instanceof List)
        || (left instanceof PythonTuple && right instanceof PythonTuple)) {
      return orderedItems(budget, operator, left, right, depth);
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
      Budget budget, String operator, Object left, Object right, int depth) {
    PythonValues.checkDepth(depth);
    Iterator<Object> a = PythonValues.iterator(left);
    Iterator<Object> b = PythonValues.iterator(right);
    while (a.hasNext() && b.hasNext()) {
      Object one = a.next();
      Object other = b.next();
      if (!same(budget, one, other, depth + 1)) {
        return ordered(budget, operator, one, other, depth + 1);
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
  static boolean contains(Budget budget, Object container, Object item) {
    if (container instanceof String || container instanceof Markup) {
      if (!isText(item)) {
        throw TemplateFault.error(
            "'in <string>' requires string as left operand, not " + PythonValues.typeName(item));
      }
      String text = PythonRepr.text(container, budget);
      return TextSearch.forward(budget, text, PythonRepr.text(item, budget)).next(0) >= 0;
    }
    if (container instanceof Map<?, ?> map) {
      return PythonValues.find(map, item) != Missing.MISSING;
    }
    if (container instanceof DictView view && view.part() == DictView.Part.KEYS) {
      return PythonValues.find(view.map(), item) != Missing.MISSING;
    }
    Iterator<Object> items = PythonValues.iterator(container);
    while (items.hasNext()) {
      if (same(budget, items.next(), item, 0)) {
        return true;
      }
    }
    return false;
  }

  /** Sorted by keys, stable. Python's own sort compares no other way than by {@code <}. */
  public static List<Integer> sorted(Budget budget, List<Object> keys, boolean descending) {
    List<Integer> order = new ArrayList<>(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      order.add(i);
    }
    return sorted(budget, keys, order, descending);
  }

  private static List<Integer> sorted(
      Budget budget, List<Object> keys, List<Integer> order, boolean descending) {
    if (order.size() < 2) {
      return order;
    }
    int half = order.size() / 2;
    List<Integer> left = sorted(budget, keys, order.subList(0, half), descending);
    List<Integer> right = sorted(budget, keys, order.subList(half, order.size()), descending);
    List<Integer> merged = new ArrayList<>(order.size());
    int i = 0;
    int k = 0;
    while (i < left.size() && k < right.size()) {
      Object a = keys.get(left.get(i));
      Object b = keys.get(right.get(k));
      boolean swaps = descending ? ordered(budget, "<", a, b) : ordered(budget, "<", b, a);
      merged.add(swaps ? right.get(k++) : left.get(i++));
    }
    merged.addAll(left.subList(i, left.size()));
    merged.addAll(right.subList(k, right.size()));
    return merged;
  }
}
