package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.BoundMethod;
import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.Markup;
import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.Operators;
import io.kvasir.tokens.template.python.PythonHash;
import io.kvasir.tokens.template.python.PythonNumbers;
import io.kvasir.tokens.template.python.PythonOrder;
import io.kvasir.tokens.template.python.PythonRepr;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.Subscripts;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.python.Undefined;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** All tests, by name. Stateless. */
public final class Tests {

  /** What a test finds. */
  public interface Test {
    boolean apply(Budget budget, Object value, Arguments arguments);
  }

  /** Jinja's own filters, with tojson: what the test {@code filter} knows. */
  private static final Set<String> FILTER_NAMES =
      Set.of(
          ("abs attr batch capitalize center count d default dictsort e escape filesizeformat first"
                  + " float forceescape format groupby indent int items join last length list lower"
                  + " map max min pprint random reject rejectattr replace reverse round safe select"
                  + " selectattr slice sort string striptags sum title tojson trim truncate unique"
                  + " upper urlencode urlize wordcount wordwrap xmlattr")
              .split(" ", -1));

  public static final Map<String, Test> ALL = all();

  private Tests() {}

  private static Map<String, Test> all() {
    Map<String, Test> all = new HashMap<>();
    addTypes(all);
    addComparisons(all);
    all.put("odd", one("odd", (budget, value) -> remainder(budget, value, 2L, 1L)));
    all.put("even", one("even", (budget, value) -> remainder(budget, value, 2L, 0L)));
    all.put(
        "divisibleby", two("divisibleby", (budget, value, by) -> remainder(budget, value, by, 0L)));
    all.put("lower", one("lower", (budget, value) -> isCase(budget, value, "islower")));
    all.put("upper", one("upper", (budget, value) -> isCase(budget, value, "isupper")));
    all.put(
        "filter", one("filter", (budget, value) -> FILTER_NAMES.contains(PythonHash.key(value))));
    all.put("test", one("test", (budget, value) -> isTest(PythonHash.key(value))));
    return Map.copyOf(all);
  }

  private static boolean isTest(Object name) {
    return name instanceof String && ALL.containsKey(name);
  }

  private static void addTypes(Map<String, Test> all) {
    put(all, "defined", value -> !(value instanceof Undefined));
    put(all, "undefined", value -> value instanceof Undefined);
    put(all, "none", value -> value == None.NONE);
    put(all, "boolean", value -> value instanceof Boolean);
    put(all, "true", value -> Boolean.TRUE.equals(value));
    put(all, "false", value -> Boolean.FALSE.equals(value));
    put(all, "integer", value -> PythonNumbers.isInteger(value) && !(value instanceof Boolean));
    put(all, "float", value -> value instanceof Double);
    put(all, "number", PythonNumbers::isNumber);
    put(all, "string", value -> value instanceof String || value instanceof Markup);
    put(all, "mapping", value -> value instanceof Map);
    put(
        all,
        "sequence",
        value ->
            Subscripts.isSequence(value) || value instanceof Map || value instanceof Undefined);
    put(all, "iterable", PythonValues::isIterable);
    put(all, "callable", Tests::isCallable);
    put(all, "escaped", value -> value instanceof Markup);
  }

  private static void addComparisons(Map<String, Test> all) {
    for (String name : new String[] {"==", "eq", "equalto"}) {
      all.put(name, comparison(name, "=="));
    }
    for (String name : new String[] {"!=", "ne"}) {
      all.put(name, comparison(name, "!="));
    }
    for (String name : new String[] {">", "gt", "greaterthan"}) {
      all.put(name, comparison(name, ">"));
    }
    for (String name : new String[] {"<", "lt", "lessthan"}) {
      all.put(name, comparison(name, "<"));
    }
    all.put(">=", comparison(">=", ">="));
    all.put("ge", comparison("ge", ">="));
    all.put("<=", comparison("<=", "<="));
    all.put("le", comparison("le", "<="));
    all.put("in", comparison("in", "in"));
    all.put("sameas", two("sameas", (budget, value, other) -> isSame(budget, value, other)));
  }

  /** A test that is named by a value. */
  static Test named(Object name) {
    Test test = name instanceof String text ? ALL.get(text) : null;
    if (test == null) {
      throw TemplateFault.unsupported("test " + PythonValues.typeName(name) + " " + name);
    }
    return test;
  }

  private interface OfOne {
    boolean apply(Budget budget, Object value);
  }

  private interface OfTwo {
    boolean apply(Budget budget, Object value, Object other);
  }

  private static void put(Map<String, Test> all, String name, Predicate<Object> predicate) {
    all.put(name, one(name, (budget, value) -> predicate.test(value)));
  }

  private static Test one(String name, OfOne test) {
    return (budget, value, arguments) -> {
      arguments.only(name, 0, 0);
      return test.apply(budget, value);
    };
  }

  private static Test two(String name, OfTwo test) {
    return (budget, value, arguments) ->
        test.apply(budget, value, arguments.only(name, 1, 1).get(0));
  }

  private static Test comparison(String name, String operator) {
    return two(name, (budget, value, other) -> Operators.compare(budget, operator, value, other));
  }

  private static boolean isCallable(Object value) {
    return value instanceof PythonCallable
        || value instanceof BoundMethod
        || value instanceof Undefined;
  }

  private static boolean remainder(Budget budget, Object value, Object by, Object wanted) {
    return PythonOrder.equal(budget, Operators.binary(budget, "%", value, by), wanted);
  }

  private static boolean isCase(Budget budget, Object value, String method) {
    String text = PythonRepr.text(value, budget);
    return (Boolean) StringMethods.call(budget, text, method, Arguments.NO_ARGUMENTS);
  }

  /** What Python answers for equal numbers and strings depends on how they were made. */
  private static boolean isSame(Budget budget, Object value, Object other) {
    if (value == other) {
      return true;
    }
    boolean single =
        value == None.NONE
            || other == None.NONE
            || value instanceof Boolean
            || other instanceof Boolean;
    if (single) {
      return value.equals(other);
    }
    if (PythonValues.typeName(value).equals(PythonValues.typeName(other))
        && !(value instanceof Undefined)
        && PythonOrder.equal(budget, value, other)) {
      throw TemplateFault.unsupported("sameas for equal values");
    }
    return false;
  }
}
