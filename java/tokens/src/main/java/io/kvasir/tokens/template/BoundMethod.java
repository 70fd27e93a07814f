package io.kvasir.tokens.template;

import java.util.List;
import java.util.Map;

/**
 * A method of a value. Immutable.
 *
 * @param receiver the value
 * @param name of the method
 */
record BoundMethod(Object receiver, String name) implements PythonCallable {

  @Override
  public Object call(Run run, Arguments arguments) {
    if (receiver instanceof String text) {
      return StringMethods.call(run, text, name, arguments);
    }
    if (receiver instanceof Map<?, ?> map) {
      return CollectionMethods.callOfDict(map, name, arguments);
    }
    if (receiver instanceof Double number) {
      arguments.only(name, 0, 0);
      return !Double.isInfinite(number) && number == Math.rint(number);
    }
    List<?> items = receiver instanceof PythonTuple tuple ? tuple.items() : (List<?>) receiver;
    return CollectionMethods.callOfSequence(run, items, name, arguments);
  }
}
