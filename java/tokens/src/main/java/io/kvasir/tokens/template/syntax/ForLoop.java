package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.LazyItems;
import io.kvasir.tokens.template.python.Missing;
import io.kvasir.tokens.template.python.PythonIterator;
import io.kvasir.tokens.template.python.PythonValues;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code for}.
 *
 * @param at its place
 * @param target of the items
 * @param items an expression
 * @param test of {@code if}
 * @param testFrame hides names in the test
 * @param body of the loop
 * @param otherwise the body of {@code else}
 * @param recursive whether the loop can be called
 * @param extended whether the body mentions {@code loop}
 */
record ForLoop(
    int at,
    Target target,
    Expression items,
    @Nullable Expression test,
    Frame testFrame,
    Frame body,
    Frame otherwise,
    boolean recursive,
    boolean extended)
    implements Statement {

  @Override
  public List<Node> children() {
    List<Node> children = new ArrayList<>();
    children.add(target);
    children.add(items);
    children.addAll(body.body());
    children.addAll(otherwise.body());
    if (test != null) {
      children.add(test);
    }
    return children;
  }

  @Override
  public Signal exec(Scope scope) {
    Object iterated = items.eval(scope);
    scope.state().at(at);
    if (!recursive) {
      return loop(scope, iterated, 0);
    }
    scope.state().write(captured(scope, iterated, 0));
    return Signal.NEXT;
  }

  private String captured(Scope scope, Object iterated, int depth) {
    scope.budget().enter();
    StringBuilder former = scope.state().capture();
    Signal signal = loop(scope, iterated, depth);
    if (signal != Signal.NEXT) {
      throw new IllegalStateException("the parser lets no signal leave a recursive loop");
    }
    scope.budget().leave();
    return scope.state().captured(former);
  }

  private Signal loop(Scope scope, Object iterated, int depth) {
    Object source = iterated;
    Iterator<Object> values = PythonValues.iterator(source);
    if (test != null) {
      values = tested(scope, values, test);
      source = new PythonIterator(values);
    }
    LoopValue loop = null;
    if (extended) {
      loop = new LoopValue(source, values, depth);
      if (recursive) {
        loop.onCall(children -> captured(scope, children, depth + 1));
      }
      values = loop.items();
    }
    boolean completed = false;
    while (values.hasNext()) {
      Object value = values.next();
      Scope inner = body.enter(scope);
      if (loop != null) {
        inner.set("loop", loop);
      }
      scope.budget().step();
      target.assign(inner, value);
      Signal signal = body.exec(inner);
      if (signal == Signal.BREAK) {
        break;
      }
      completed |= signal == Signal.NEXT;
    }
    // As in Jinja, a loop that left each of its rounds early counts as empty.
    return completed || otherwise.body().isEmpty()
        ? Signal.NEXT
        : otherwise.exec(otherwise.enter(scope));
  }

  /** Those that pass the test, which is evaluated when the next one is asked for. */
  private Iterator<Object> tested(Scope scope, Iterator<Object> values, Expression condition) {
    return new LazyItems() {
      @Override
      protected Object compute() {
        while (values.hasNext()) {
          Scope inner = testFrame.enter(scope);
          scope.budget().step();
          target.assign(inner, values.next());
          if (PythonValues.isTrue(condition.eval(inner))) {
            return target.assigned(inner);
          }
        }
        return Missing.MISSING;
      }
    };
  }
}
