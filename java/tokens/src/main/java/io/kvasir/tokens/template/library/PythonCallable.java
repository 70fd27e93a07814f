package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.PythonValue;

/** A value that templates call. */
public interface PythonCallable extends PythonValue {

  /** Calls it. */
  Object call(Budget budget, Arguments arguments);

  @Override
  default String typeName() {
    return "function";
  }
}
