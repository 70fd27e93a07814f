package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.PythonDict;
import io.kvasir.tokens.template.python.PythonTuple;
import io.kvasir.tokens.template.python.Undefined;
import java.util.ArrayList;
import java.util.List;

/** Values that are written down, and names. */
final class Literals {

  private Literals() {}

  /** A number, a string, true, false or none. */
  record Constant(int at, Object value) implements Expression, Node.Leaf {

    @Override
    public Object eval(Scope scope) {
      return value;
    }
  }

  /** The value of a name. */
  record Name(int at, String name) implements Expression, Node.Leaf {

    @Override
    public Object eval(Scope scope) {
      Object value = scope.find(name);
      return value == Missing.MISSING ? Undefined.name(name) : value;
    }
  }

  /** The text of a block, on which its filters work. */
  record BlockText(int at) implements Expression, Node.Leaf {

    /** No name in a template can be this one. */
    static final String NAME = "block text";

    @Override
    public Object eval(Scope scope) {
      return scope.find(NAME);
    }
  }

  /** A list or tuple. */
  record Sequence(int at, List<Expression> items, boolean tuple) implements Expression {

    @Override
    public List<Node> children() {
      return Node.all(List.of(items));
    }

    @Override
    public Object eval(Scope scope) {
      List<Object> values = new ArrayList<>(items.size());
      for (Expression item : items) {
        values.add(item.eval(scope));
      }
      scope.budget().work(values.size());
      return tuple ? new PythonTuple(values) : values;
    }
  }

  /** A dict. */
  record Dict(int at, List<Expression> keys, List<Expression> values) implements Expression {

    @Override
    public List<Node> children() {
      List<Node> children = new ArrayList<>();
      for (int i = 0; i < keys.size(); i++) {
        children.add(keys.get(i));
        children.add(values.get(i));
      }
      return children;
    }

    @Override
    public Object eval(Scope scope) {
      PythonDict dict = new PythonDict();
      for (int i = 0; i < keys.size(); i++) {
        Object key = keys.get(i).eval(scope);
        Object value = values.get(i).eval(scope);
        scope.state().at(at);
        dict.set(key, value);
      }
      scope.budget().work(dict.size());
      return dict;
    }
  }
}
