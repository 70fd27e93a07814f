package io.kvasir.tokens.template.python;

/** Python's {@code None}, so that no value is null here. */
public enum None implements PythonValue {
  NONE;

  @Override
  public String typeName() {
    return "NoneType";
  }

  @Override
  public String repr(Budget budget) {
    return "None";
  }

  @Override
  public boolean isTrue() {
    return false;
  }
}
