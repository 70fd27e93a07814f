package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.library.Namespace;
import io.kvasir.tokens.template.python.PythonTuple;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** What is assigned to. */
interface Target extends Node {

  /** Assigns a value. */
  void assign(Scope scope, Object value);

  /** The value that was assigned, with tuples for what was taken apart. */
  Object assigned(Scope scope);

  /**
   * A name.
   *
   * @param at its place
   * @param name itself
   * @param parameter whether it is one of a macro or of {@code with}
   */
  record Name(int at, String name, boolean parameter) implements Target, Node.Leaf {

    @Override
    public void assign(Scope scope, Object value) {
      scope.set(name, value);
    }

    @Override
    public Object assigned(Scope scope) {
      return scope.find(name);
    }
  }

  /** An attribute of a namespace. */
  record Attribute(int at, String namespace, String name) implements Target, Node.Leaf {

    Namespace namespace(Scope scope) {
      scope.state().at(at);
      if (scope.find(namespace) instanceof Namespace found) {
        return found;
      }
      throw TemplateFault.error("cannot assign attribute on non-namespace object");
    }

    @Override
    public void assign(Scope scope, Object value) {
      namespace(scope).set(name, value);
    }

    @Override
    public Object assigned(Scope scope) {
      throw TemplateFault.unsupported("an attribute as the target of a loop");
    }
  }

  /** Targets of the items of a value. */
  record Tuple(int at, List<Target> items) implements Target {

    @Override
    public List<Node> children() {
      return Node.all(List.of(items));
    }

    @Override
    public void assign(Scope scope, Object value) {
      scope.state().at(at);
      Iterator<Object> values = PythonValues.iterator(value);
      List<Object> taken = new ArrayList<>();
      while (values.hasNext() && taken.size() <= items.size()) {
        taken.add(values.next());
      }
      if (taken.size() != items.size()) {
        throw TemplateFault.error(
            (taken.size() < items.size() ? "not enough" : "too many")
                + " values to unpack (expected "
                + items.size()
                + ")");
      }
      for (int i = 0; i < taken.size(); i++) {
        items.get(i).assign(scope, taken.get(i));
      }
    }

    @Override
    public Object assigned(Scope scope) {
      List<Object> values = new ArrayList<>();
      for (Target item : items) {
        values.add(item.assigned(scope));
      }
      return new PythonTuple(values);
    }
  }
}
