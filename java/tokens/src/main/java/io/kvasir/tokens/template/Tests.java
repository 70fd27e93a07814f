package io.kvasir.tokens.template;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** All tests, by name. Stateless. */
final class Tests {

  /** What a test finds. */
  interface Test {
    boolean apply(Run run, Object value, Arguments arguments);
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

  static final Map<String, Test> ALL = all();

  private Tests() {}

  private static Map<String, Test> all() {
    Map<String, Test> all = new HashMap<>();
    addTypes(all);
    addComparisons(all);
    all.put("odd", one("odd", (run, value) -> remainder(run, value, 2L, 1L)));
    all.put("even", one("even", (run, value) -> remainder(run, value, 2L, 0L)));
    all.put("divisibleby", two("divisibleby", (run, value, by) -> remainder(run, value, by, 0L)));
    all.put("lower", one("lower", (run, value) -> isCase(run, value, "islower")));
    all.put("upper", one("upper", (run, value) -> isCase(run, value, "isupper")));
    all.put("filter", one("filter", (run, value) -> FILTER_NAMES.contains(PythonHash.key(value))));
    all.put("test", one("test", (run, value) -> isTest(PythonHash.key(value))));
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
    put(all, "callable", value -> value instanceof PythonCallable || value instanceof Undefined);
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
    all.put("sameas", two("sameas", (run, value, other) -> isSame(run, value, other)));
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
    boolean apply(Run run, Object value);
  }

  private interface OfTwo {
    boolean apply(Run run, Object value, Object other);
  }

  private static void put(Map<String, Test> all, String name, Predicate<Object> predicate) {
    all.put(name, one(name, (run, value) -> predicate.test(value)));
  }

  private static Test one(String name, OfOne test) {
    return (run, value, arguments) -> {
      arguments.only(name, 0, 0);
      return test.apply(run, value);
    };
  }

  private static Test two(String name, OfTwo test) {
    return (run, value, arguments) -> test.apply(run, value, arguments.only(name, 1, 1).get(0));
  }

  private static Test comparison(String name, String operator) {
    return two(name, (run, value, other) -> Operators.compare(run, operator, value, other));
  }

  private static boolean remainder(Run run, Object value, Object by, Object wanted) {
    return PythonOrder.equal(run, Operators.binary(run, "%", value, by), wanted);
  }

  private static boolean isCase(Run run, Object value, String method) {
    String text = PythonRepr.text(value, run);
    return (Boolean) StringMethods.call(run, text, method, Arguments.NO_ARGUMENTS);
  }

  /** What Python answers for equal numbers and strings depends on how they were made. */
  private static boolean isSame(Run run, Object value, Object other) {
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
        && PythonOrder.equal(run, value, other)) {
      throw TemplateFault.unsupported("sameas for equal values");
    }
    return false;
  }
}
