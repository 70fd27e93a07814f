package io.kvasir.tokens.template;

/** Python's {@code None}, so that no value is null here. */
enum None implements PythonValue {
  NONE;

  @Override
  public String typeName() {
    return "NoneType";
  }

  @Override
  public String repr(Run run) {
    return "None";
  }

  @Override
  public boolean isTrue() {
    return false;
  }
}
