package io.kvasir.tokens.template.python;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** Operators on values of any types. Stateless. */
public final class Operators {

  private Operators() {}

  public static Object binary(Budget budget, String operator, Object left, Object right) {
    budget.step();
    if (PythonNumbers.isNumber(left) && PythonNumbers.isNumber(right)) {
      return PythonNumbers.arithmetic(operator, left, right);
    }
    if (operator.equals("%") && left instanceof String format) {
      return PercentFormat.format(budget, format, right);
    }
    if (left instanceof Undefined undefined) {
      throw undefined.used();
    }
    if (right instanceof Undefined undefined) {
      throw undefined.used();
    }
    Object result =
        switch (operator) {
          case "+" -> concatenated(budget, left, right);
          case "*" ->
              PythonNumbers.isInteger(left)
                  ? repeated(budget, right, left)
                  : repeated(budget, left, right);
          default -> Missing.MISSING;
        };
    if (result != Missing.MISSING) {
      return result;
    }
    if (left instanceof Markup
        || right instanceof Markup
        || (left instanceof DictView && operator.equals("-"))
        || (right instanceof DictView && operator.equals("-"))) {
      throw TemplateFault.unsupported(
          "operator %s on %s and %s"
              .formatted(operator, PythonValues.typeName(left), PythonValues.typeName(right)));
    }
    throw TemplateFault.error(
        "unsupported operand type(s) for %s: '%s' and '%s'"
            .formatted(operator, PythonValues.typeName(left), PythonValues.typeName(right)));
  }

  private static Object concatenated(Budget budget, Object left, Object right) {
    if (left instanceof String a && right instanceof String b) {
      return joined(budget, a, b);
    }
    if (left instanceof Markup || right instanceof Markup) {
      return marked(budget, left, right);
    }
    boolean lists = left instanceof List && right instanceof List;
    boolean tuples = left instanceof PythonTuple && right instanceof PythonTuple;
    if (!lists && !tuples) {
      return Missing.MISSING;
    }
    List<Object> items = new ArrayList<>();
    addAll(budget, items, PythonValues.iterator(left));
    addAll(budget, items, PythonValues.iterator(right));
    return lists ? items : new PythonTuple(items);
  }

  /** Text that is not marked as safe is escaped. */
  private static Object marked(Budget budget, Object left, Object right) {
    boolean texts =
        (left instanceof Markup || left instanceof String)
            && (right instanceof Markup || right instanceof String);
    return texts ? new Markup(joined(budget, escaped(left), escaped(right))) : Missing.MISSING;
  }

  private static String escaped(Object text) {
    return text instanceof Markup markup ? markup.text() : Markup.escaped((String) text);
  }

  private static String joined(Budget budget, String a, String b) {
    budget.checkSize((long) a.length() + b.length());
    budget.work(a.length() + b.length());
    return a.concat(b);
  }

  /** {@code list()}. */
  public static List<Object> list(Budget budget, Object value) {
    List<Object> items = new ArrayList<>();
    addAll(budget, items, PythonValues.iterator(value));
    return items;
  }

  public static void addAll(Budget budget, List<Object> target, Iterator<Object> items) {
    while (items.hasNext()) {
      budget.step();
      budget.checkSize(target.size());
      target.add(items.next());
    }
  }

  private static Object repeated(Budget budget, Object value, Object times) {
    boolean text = value instanceof String;
    if (!PythonNumbers.isInteger(times)
        || !(text || value instanceof List || value instanceof PythonTuple)) {
      return Missing.MISSING;
    }
    long count = Math.max(0, PythonNumbers.bounded(times, "*"));
    long length = text ? ((String) value).length() : PythonValues.length(value);
    if (count > 0 && length > Integer.MAX_VALUE / count) {
      throw TemplateFault.limit("a string or list is too long");
    }
    budget.checkSize(length * count);
    budget.work(length * count);
    if (text) {
      return ((String) value).repeat(length == 0 ? 0 : (int) count);
    }
    List<Object> items = new ArrayList<>();
    for (long i = 0; i < count && length > 0; i++) {
      addAll(budget, items, PythonValues.iterator(value));
    }
    return value instanceof List ? items : new PythonTuple(items);
  }

  public static boolean compare(Budget budget, String operator, Object left, Object right) {
    return switch (operator) {
      case "==" -> PythonOrder.equal(budget, left, right);
      case "!=" -> !PythonOrder.equal(budget, left, right);
      case "in" -> PythonOrder.contains(budget, right, left);
      case "not in" -> !PythonOrder.contains(budget, right, left);
      default -> PythonOrder.ordered(budget, operator, left, right);
    };
  }

  public static Object unary(char sign, Object value) {
    if (value instanceof Undefined undefined) {
      throw undefined.used();
    }
    if (!PythonNumbers.isNumber(value)) {
      throw TemplateFault.error(
          "bad operand type for unary " + sign + ": '" + PythonValues.typeName(value) + "'");
    }
    if (sign == '-') {
      return PythonNumbers.negated(value);
    }
    return value instanceof Boolean truth ? (Object) (truth ? 1L : 0L) : value;
  }
}
