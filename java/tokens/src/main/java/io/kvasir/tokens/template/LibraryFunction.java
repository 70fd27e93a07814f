package io.kvasir.tokens.template;

/**
 * A function that is part of the template language.
 *
 * @param name of it
 * @param body what it does
 */
record LibraryFunction(String name, Body body) implements PythonCallable {

  interface Body {
    Object call(Run run, Arguments arguments);
  }

  @Override
  public Object call(Run run, Arguments arguments) {
    return body.call(run, arguments);
  }
}
