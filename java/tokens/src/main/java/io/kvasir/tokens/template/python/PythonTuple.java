package io.kvasir.tokens.template.python;

import java.util.Iterator;
import java.util.List;

/**
 * A tuple. Immutable, as far as its items are.
 *
 * @param items of it
 * @param grouped whether it comes from {@code groupby}, and has the attributes grouper and list
 */
public record PythonTuple(List<Object> items, boolean grouped) implements PythonIterable {

  public PythonTuple(List<Object> items) {
    this(items, false);
  }

  public static PythonTuple of(Object... items) {
    return new PythonTuple(List.of(items));
  }

  @Override
  public String typeName() {
    return "tuple";
  }

  @Override
  public Iterator<Object> iterator() {
    return items.iterator();
  }

  @Override
  public long length() {
    return items.size();
  }

  @Override
  public Object attribute(String name) {
    if (grouped && name.equals("grouper")) {
      return items.get(0);
    }
    if (grouped && name.equals("list")) {
      return items.get(1);
    }
    return name.equals("count") || name.equals("index")
        ? new BoundMethod(this, name)
        : Missing.MISSING;
  }
}
