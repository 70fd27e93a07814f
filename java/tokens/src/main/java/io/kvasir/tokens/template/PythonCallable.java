package io.kvasir.tokens.template;

/** A value that templates call. */
interface PythonCallable extends PythonValue {

  /** Calls it. */
  Object call(Run run, Arguments arguments);

  @Override
  default String typeName() {
    return "function";
  }
}
