package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.Operators;
import io.kvasir.tokens.template.python.PythonRepr;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.Undefined;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Expressions with operators. */
final class Operations {

  private Operations() {}

  /** Arithmetic. */
  record Binary(int at, String operator, Expression left, Expression right) implements Expression {

    @Override
    public List<Node> children() {
      return List.of(left, right);
    }

    @Override
    public Object eval(Scope scope) {
      Object a = left.eval(scope);
      Object b = right.eval(scope);
      scope.state().at(at);
      return Operators.binary(scope.budget(), operator, a, b);
    }
  }

  /** A sign. */
  record Unary(int at, char sign, Expression operand) implements Expression {

    @Override
    public List<Node> children() {
      return List.of(operand);
    }

    @Override
    public Object eval(Scope scope) {
      Object value = operand.eval(scope);
      scope.state().at(at);
      return Operators.unary(sign, value);
    }
  }

  /** Negation. */
  record Not(int at, Expression operand) implements Expression {

    @Override
    public List<Node> children() {
      return List.of(operand);
    }

    @Override
    public Object eval(Scope scope) {
      return !PythonValues.isTrue(operand.eval(scope));
    }
  }

  /** {@code and}, {@code or}: the operand that decides. */
  record Logic(int at, boolean and, Expression left, Expression right) implements Expression {

    @Override
    public List<Node> children() {
      return List.of(left, right);
    }

    @Override
    public Object eval(Scope scope) {
      Object value = left.eval(scope);
      return PythonValues.isTrue(value) == and ? right.eval(scope) : value;
    }
  }

  /** Comparisons in a chain. */
  record Compare(int at, Expression first, List<String> operators, List<Expression> others)
      implements Expression {

    @Override
    public List<Node> children() {
      return Node.all(List.of(List.of(first), others));
    }

    @Override
    public Object eval(Scope scope) {
      Object left = first.eval(scope);
      for (int i = 0; i < operators.size(); i++) {
        Object right = others.get(i).eval(scope);
        scope.state().at(at);
        if (!Operators.compare(scope.budget(), operators.get(i), left, right)) {
          return false;
        }
        left = right;
      }
      return true;
    }
  }

  /** Texts joined by {@code ~}. */
  record Concatenation(int at, List<Expression> parts) implements Expression {

    @Override
    public List<Node> children() {
      return Node.all(List.of(parts));
    }

    @Override
    public Object eval(Scope scope) {
      Object[] values = new Object[parts.size()];
      for (int i = 0; i < values.length; i++) {
        values[i] = parts.get(i).eval(scope);
      }
      Budget budget = scope.budget();
      scope.state().at(at);
      StringBuilder text = new StringBuilder();
      for (Object value : values) {
        String part = PythonRepr.text(value, budget);
        budget.checkSize((long) text.length() + part.length());
        text.append(part);
      }
      budget.work(text.length());
      return text.toString();
    }
  }

  /** {@code value if test else other}. */
  record Conditional(int at, Expression test, Expression value, @Nullable Expression other)
      implements Expression {

    @Override
    public List<Node> children() {
      return other == null ? List.of(test, value) : List.of(test, value, other);
    }

    @Override
    public Object eval(Scope scope) {
      if (PythonValues.isTrue(test.eval(scope))) {
        return value.eval(scope);
      }
      return other == null
          ? new Undefined("the inline if-expression was false and has no else")
          : other.eval(scope);
    }
  }
}
