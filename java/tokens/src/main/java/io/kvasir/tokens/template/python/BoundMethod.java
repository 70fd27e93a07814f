package io.kvasir.tokens.template.python;

/**
 * A method of a string, list, tuple, dict or float. Immutable.
 *
 * @param receiver the value
 * @param name of the method
 */
public record BoundMethod(Object receiver, String name) implements PythonValue {

  @Override
  public String typeName() {
    return "function";
  }
}
