package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.library.Arguments;
import io.kvasir.tokens.template.library.Filters;
import io.kvasir.tokens.template.library.Methods;
import io.kvasir.tokens.template.library.PythonCallable;
import io.kvasir.tokens.template.python.BoundMethod;
import io.kvasir.tokens.template.python.Operators;
import io.kvasir.tokens.template.python.PythonValues;
import io.kvasir.tokens.template.python.TemplateFault;
import io.kvasir.tokens.template.python.Undefined;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Calls of functions, filters and tests. */
final class Invocation {

  private Invocation() {}

  /**
   * Arguments as they are written.
   *
   * @param positional in order
   * @param named in order
   * @param more what follows a star
   * @param moreNamed what follows two stars
   */
  record Written(
      List<Expression> positional,
      Map<String, Expression> named,
      @Nullable Expression more,
      @Nullable Expression moreNamed) {

    static final Written NOTHING = new Written(List.of(), Map.of(), null, null);

    List<Node> children() {
      List<Node> children = Node.all(List.of(positional, named.values()));
      if (more != null) {
        children.add(more);
      }
      if (moreNamed != null) {
        children.add(moreNamed);
      }
      return children;
    }

    Arguments eval(Scope scope) {
      if (positional.isEmpty() && named.isEmpty() && more == null && moreNamed == null) {
        return Arguments.NO_ARGUMENTS;
      }
      List<Object> values = new ArrayList<>(positional.size());
      for (Expression argument : positional) {
        values.add(argument.eval(scope));
      }
      if (more != null) {
        Iterator<Object> items = PythonValues.iterator(more.eval(scope));
        Operators.addAll(scope.budget(), values, items);
      }
      Map<String, Object> byName = new LinkedHashMap<>();
      for (Map.Entry<String, Expression> argument : named.entrySet()) {
        byName.put(argument.getKey(), argument.getValue().eval(scope));
      }
      if (moreNamed != null) {
        addNamed(byName, moreNamed.eval(scope));
      }
      return new Arguments(values, byName);
    }

    private static void addNamed(Map<String, Object> byName, Object more) {
      if (!(more instanceof Map<?, ?> map)) {
        throw TemplateFault.error("argument after ** must be a mapping");
      }
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        if (!(entry.getKey() instanceof String name)) {
          throw TemplateFault.error("keywords must be strings");
        }
        if (byName.put(name, PythonValues.of(entry.getValue())) != null) {
          throw TemplateFault.error("multiple values for keyword argument '" + name + "'");
        }
      }
    }
  }

  /** A call of a value. */
  record Call(int at, Expression callee, Written arguments) implements Expression {

    @Override
    public List<Node> children() {
      return Node.all(List.of(List.of(callee), arguments.children()));
    }

    @Override
    public Object eval(Scope scope) {
      return eval(scope, null);
    }

    /** Calls with the body of a call block. */
    Object eval(Scope scope, @Nullable Macro caller) {
      Object called = callee.eval(scope);
      Arguments values = arguments.eval(scope);
      scope.state().at(at);
      scope.budget().step();
      if (caller != null) {
        Map<String, Object> named = new LinkedHashMap<>(values.named());
        if (named.put("caller", caller) != null) {
          throw TemplateFault.error("multiple values for keyword argument 'caller'");
        }
        values = new Arguments(values.positional(), named);
      }
      if (called instanceof PythonCallable callable) {
        return callable.call(scope.budget(), values);
      }
      if (called instanceof BoundMethod method) {
        return Methods.call(scope.budget(), method, values);
      }
      if (called instanceof Undefined undefined) {
        throw undefined.used();
      }
      throw TemplateFault.error("'" + PythonValues.typeName(called) + "' object is not callable");
    }
  }

  /** {@code value | filter}, or {@code value is test}, which is a filter with a truth value. */
  record FilterCall(int at, Expression value, Filters.Filter filter, Written arguments)
      implements Expression {

    @Override
    public List<Node> children() {
      return Node.all(List.of(List.of(value), arguments.children()));
    }

    @Override
    public Object eval(Scope scope) {
      Object filtered = value.eval(scope);
      Arguments values = arguments.eval(scope);
      scope.state().at(at);
      scope.budget().step();
      return filter.apply(scope.budget(), filtered, values);
    }
  }
}
