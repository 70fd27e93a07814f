package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;

/**
 * A function that is part of the template language.
 *
 * @param name of it
 * @param body what it does
 */
public record LibraryFunction(String name, Body body) implements PythonCallable {

  public interface Body {
    Object call(Budget budget, Arguments arguments);
  }

  @Override
  public Object call(Budget budget, Arguments arguments) {
    return body.call(budget, arguments);
  }
}
