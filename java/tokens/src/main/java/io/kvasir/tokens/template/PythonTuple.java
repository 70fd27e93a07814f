package io.kvasir.tokens.template;

import java.util.List;

/**
 * A tuple. Immutable, as far as its items are.
 *
 * @param items of it
 * @param grouped whether it comes from {@code groupby}, and has the attributes grouper and list
 */
record PythonTuple(List<Object> items, boolean grouped) implements PythonValue {

  PythonTuple(List<Object> items) {
    this(items, false);
  }

  static PythonTuple of(Object... items) {
    return new PythonTuple(List.of(items));
  }

  @Override
  public String typeName() {
    return "tuple";
  }

  @Override
  public boolean isTrue() {
    return !items.isEmpty();
  }

  @Override
  public Object attribute(String name) {
    if (grouped && name.equals("grouper")) {
      return items.get(0);
    }
    if (grouped && name.equals("list")) {
      return items.get(1);
    }
    return CollectionMethods.ofTuple(this, name);
  }
}
