package io.kvasir.tokens.template;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Statements without loops and macros. */
final class Statements {

  private Statements() {}

  /** Text between tags. */
  record Text(int at, String text) implements Statement {

    @Override
    public List<Node> children() {
      return List.of();
    }

    @Override
    public Signal exec(Scope scope) {
      scope.run().write(text);
      return Signal.NEXT;
    }
  }

  /** {@code {{ value }}}. */
  record Output(int at, Expression value) implements Statement {

    @Override
    public List<Node> children() {
      return List.of(value);
    }

    @Override
    public Signal exec(Scope scope) {
      Object printed = value.eval(scope);
      scope.run().at(at);
      scope.run().write(PythonRepr.text(printed, scope.run()));
      return Signal.NEXT;
    }
  }

  /** {@code set target = value}. */
  record Assign(int at, Target target, Expression value) implements Statement {

    @Override
    public List<Node> children() {
      return List.of(target, value);
    }

    @Override
    public Signal exec(Scope scope) {
      checkNamespaces(target, scope);
      target.assign(scope, value.eval(scope));
      return Signal.NEXT;
    }

    private static void checkNamespaces(Target target, Scope scope) {
      if (target instanceof Target.Attribute attribute) {
        attribute.namespace(scope);
      } else if (target instanceof Target.Tuple tuple) {
        tuple.items().forEach(item -> checkNamespaces(item, scope));
      }
    }
  }

  /** {@code set target} with a block. */
  record AssignBlock(int at, Target target, @Nullable Expression filtered, Frame frame)
      implements Statement {

    @Override
    public List<Node> children() {
      List<Node> children = new ArrayList<>();
      children.add(target);
      if (filtered != null) {
        children.add(filtered);
      }
      children.addAll(frame.body());
      return children;
    }

    @Override
    public Signal exec(Scope scope) {
      Scope inner = frame.enter(scope);
      StringBuilder former = scope.run().capture();
      Signal signal = frame.exec(inner);
      String text = scope.run().captured(former);
      if (signal != Signal.NEXT) {
        return signal;
      }
      inner.set(Literals.BlockText.NAME, text);
      target.assign(scope, filtered == null ? text : filtered.eval(inner));
      return Signal.NEXT;
    }
  }

  /** {@code if}, with its branches. */
  record If(
      int at, Expression test, List<Statement> body, List<If> others, List<Statement> otherwise)
      implements Statement {

    @Override
    public List<Node> children() {
      return Node.all(List.of(List.of(test), body, others, otherwise));
    }

    @Override
    public Signal exec(Scope scope) {
      if (PythonValues.isTrue(test.eval(scope))) {
        return Statement.exec(body, scope);
      }
      for (If other : others) {
        if (PythonValues.isTrue(other.test.eval(scope))) {
          return Statement.exec(other.body, scope);
        }
      }
      return Statement.exec(otherwise, scope);
    }
  }

  /** {@code with}. */
  record With(int at, List<Target> targets, List<Expression> values, Frame frame)
      implements Statement {

    @Override
    public List<Node> children() {
      return Node.all(List.of(targets, values, frame.body()));
    }

    @Override
    public Signal exec(Scope scope) {
      Scope inner = frame.enter(scope);
      for (int i = 0; i < targets.size(); i++) {
        targets.get(i).assign(inner, values.get(i).eval(scope));
      }
      return frame.exec(inner);
    }
  }

  /** {@code filter} with a block. */
  record FilterBlock(int at, Expression filtered, Frame frame) implements Statement {

    @Override
    public List<Node> children() {
      return Node.all(List.of(frame.body(), List.of(filtered)));
    }

    @Override
    public Signal exec(Scope scope) {
      Scope inner = frame.enter(scope);
      StringBuilder former = scope.run().capture();
      Signal signal = frame.exec(inner);
      String text = scope.run().captured(former);
      if (signal != Signal.NEXT) {
        return signal;
      }
      inner.set(Literals.BlockText.NAME, text);
      Object result = filtered.eval(inner);
      scope.run().at(at);
      scope.run().write(PythonRepr.text(result, scope.run()));
      return Signal.NEXT;
    }
  }

  /** {@code break} and {@code continue}. */
  record Leave(int at, Signal signal) implements Statement {

    @Override
    public List<Node> children() {
      return List.of();
    }

    @Override
    public Signal exec(Scope scope) {
      return signal;
    }
  }
}
