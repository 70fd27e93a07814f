package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.Budget;
import io.kvasir.tokens.template.python.Missing;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The names of a frame, and behind them those of the frames around it. Not thread-safe. */
final class Scope {

  private final RenderState state;
  private final @Nullable Scope outer;
  private final Map<String, Object> names = new HashMap<>();

  Scope(RenderState state) {
    this.state = state;
    this.outer = null;
  }

  Scope(Scope outer) {
    this.state = outer.state;
    this.outer = outer;
  }

  RenderState state() {
    return state;
  }

  Budget budget() {
    return state.budget();
  }

  void set(String name, Object value) {
    names.put(name, value);
  }

  /** The value of a name, {@link Missing} if it has none. */
  Object find(String name) {
    for (Scope scope = this; scope != null; scope = scope.outer) {
      Object value = scope.names.get(name);
      if (value != null) {
        return value;
      }
    }
    return state.variable(name);
  }
}
