package io.kvasir.tokens.template.library;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.PythonDict;
import io.kvasir.tokens.template.python.PythonRepr;
import io.kvasir.tokens.template.python.PythonValue;
import io.kvasir.tokens.template.python.PythonValues;

/** Variables that a template may assign from any scope. Not thread-safe. */
public final class Namespace implements PythonValue {

  private final PythonDict attributes;

  Namespace(PythonDict attributes) {
    this.attributes = attributes;
  }

  public void set(String name, Object value) {
    attributes.set(name, value);
  }

  @Override
  public Object attribute(String name) {
    // Private names are not safe, which makes them undefined.
    return name.startsWith("_") ? Missing.MISSING : PythonValues.find(attributes, name);
  }

  @Override
  public String typeName() {
    return "Namespace";
  }

  @Override
  public String repr(Budget budget) {
    return "<Namespace " + PythonRepr.of(attributes, budget) + ">";
  }
}
