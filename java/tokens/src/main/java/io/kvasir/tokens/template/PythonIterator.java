package io.kvasir.tokens.template;

import java.util.Iterator;

/** What lazy filters return: items that can be read once. Not thread-safe. */
final class PythonIterator implements PythonValue {

  private final Iterator<Object> items;

  PythonIterator(Iterator<Object> items) {
    this.items = items;
  }

  Iterator<Object> items() {
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
