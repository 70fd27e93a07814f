package io.kvasir.tokens.template;

/** Variables that a template may assign from any scope. Not thread-safe. */
final class Namespace implements PythonValue {

  private final PythonDict attributes;

  Namespace(PythonDict attributes) {
    this.attributes = attributes;
  }

  void set(String name, Object value) {
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
  public String repr(Run run) {
    return "<Namespace " + PythonRepr.of(attributes, run) + ">";
  }
}
