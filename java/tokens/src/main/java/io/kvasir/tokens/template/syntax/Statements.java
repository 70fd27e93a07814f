package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.PythonRepr;
import io.kvasir.tokens.template.python.PythonValues;
import java.util.List;

/** Statements without loops and macros. */
final class Statements {

  private Statements() {}

  /** Text between tags. */
  record Text(int at, String text) implements Statement, Node.Leaf {

    @Override
    public Signal exec(Scope scope) {
      scope.state().write(text);
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
      scope.state().at(at);
      scope.state().write(PythonRepr.text(printed, scope.budget()));
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

  /** Executes the body of a block, whose text {@link Literals.BlockText} then is. */
  private static Statement.Signal read(Frame frame, Scope inner) {
    StringBuilder former = inner.state().capture();
    Statement.Signal signal = frame.exec(inner);
    inner.set(Literals.BlockText.NAME, inner.state().captured(former));
    return signal;
  }

  /** {@code set target} with a block. */
  record AssignBlock(int at, Target target, Expression filtered, Frame frame) implements Statement {

    @Override
    public List<Node> children() {
      return Node.all(List.of(List.of(target, filtered), frame.body()));
    }

    @Override
    public Signal exec(Scope scope) {
      Scope inner = frame.enter(scope);
      Signal signal = read(frame, inner);
      if (signal == Signal.NEXT) {
        target.assign(scope, filtered.eval(inner));
      }
      return signal;
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
      Signal signal = read(frame, inner);
      return signal == Signal.NEXT ? new Output(at, filtered).exec(inner) : signal;
    }
  }

  /** {@code break} and {@code continue}. */
  record Leave(int at, Signal signal) implements Statement, Node.Leaf {

    @Override
    public Signal exec(Scope scope) {
      return signal;
    }
  }
}
