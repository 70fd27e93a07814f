package io.kvasir.tokens.template.python;

import java.util.Iterator;

/** What lazy filters return: items that can be read once. Not thread-safe. */
public final class PythonIterator implements PythonIterable {

  private final Iterator<Object> items;

  public PythonIterator(Iterator<Object> items) {
    this.items = items;
  }

  @Override
  public Iterator<Object> iterator() {
    return items;
  }

  @Override
  public String typeName() {
    return "generator";
  }

  @Override
  public Object attribute(String name) {
    if (PythonAttributes.GENERATOR.contains(name)) {
      throw TemplateFault.unsupported("attribute '" + name + "' of generators");
    }
    return Missing.MISSING;
  }
}
