package io.kvasir.tokens.template;

/**
 * What a name or attribute without a value yields: it prints as nothing, is false and empty, and
 * fails where it is used otherwise. Immutable.
 *
 * @param hint why it is undefined
 */
record Undefined(String hint) implements PythonValue {

  static Undefined name(String name) {
    return new Undefined("'" + name + "' is undefined");
  }

  TemplateFault used() {
    return TemplateFault.error(hint);
  }

  @Override
  public String typeName() {
    return "Undefined";
  }

  @Override
  public String repr(Run run) {
    return "Undefined";
  }

  @Override
  public boolean isTrue() {
    return false;
  }
}
