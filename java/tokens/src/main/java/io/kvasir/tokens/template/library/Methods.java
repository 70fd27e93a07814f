package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.BoundMethod;
import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.PythonTuple;
import java.util.List;
import java.util.Map;

/** Calls of methods. Stateless. */
public final class Methods {

  private Methods() {}

  /** Calls a method of a value. */
  public static Object call(Budget budget, BoundMethod method, Arguments arguments) {
    Object receiver = method.receiver();
    String name = method.name();
    if (receiver instanceof String text) {
      return StringMethods.call(budget, text, name, arguments);
    }
    if (receiver instanceof Map<?, ?> map) {
      return CollectionMethods.callOfDict(map, name, arguments);
    }
    if (receiver instanceof Double number) {
      arguments.only(name, 0, 0);
      return !Double.isInfinite(number) && number == Math.rint(number);
    }
    List<?> items = receiver instanceof PythonTuple tuple ? tuple.items() : (List<?>) receiver;
    return CollectionMethods.callOfSequence(budget, items, name, arguments);
  }
}
