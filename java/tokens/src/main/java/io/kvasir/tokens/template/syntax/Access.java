package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.Subscripts;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Expressions that read a part of a value. */
final class Access {

  private Access() {}

  /** {@code value.name}. */
  record Attribute(int at, Expression value, String name) implements Expression {

    @Override
    public List<Node> children() {
      return List.of(value);
    }

    @Override
    public Object eval(Scope scope) {
      Object of = value.eval(scope);
      scope.state().at(at);
      scope.budget().step();
      return PythonValues.member(of, name);
    }
  }

  /** {@code value[key]}. */
  record Item(int at, Expression value, Expression key) implements Expression {

    @Override
    public List<Node> children() {
      return List.of(value, key);
    }

    @Override
    public Object eval(Scope scope) {
      Object of = value.eval(scope);
      Object index = key.eval(scope);
      scope.state().at(at);
      return PythonValues.item(scope.budget(), of, index);
    }
  }

  /** {@code value[start:stop:step]}. */
  record Slice(
      int at,
      Expression value,
      @Nullable Expression start,
      @Nullable Expression stop,
      @Nullable Expression step)
      implements Expression {

    @Override
    public List<Node> children() {
      List<Node> children = new ArrayList<>();
      children.add(value);
      for (Expression bound : new @Nullable Expression[] {start, stop, step}) {
        if (bound != null) {
          children.add(bound);
        }
      }
      return children;
    }

    @Override
    public Object eval(Scope scope) {
      Object of = value.eval(scope);
      Object from = bound(start, scope);
      Object to = bound(stop, scope);
      Object by = bound(step, scope);
      scope.state().at(at);
      return Subscripts.slice(scope.budget(), of, from, to, by);
    }

    private static Object bound(@Nullable Expression bound, Scope scope) {
      return bound == null ? None.NONE : bound.eval(scope);
    }
  }
}
