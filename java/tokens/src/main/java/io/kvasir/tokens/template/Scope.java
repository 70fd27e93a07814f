package io.kvasir.tokens.template;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The names of a frame, and behind them those of the frames around it. Not thread-safe. */
final class Scope {

  private final Run run;
  private final @Nullable Scope outer;
  private final Map<String, Object> names = new HashMap<>();

  Scope(Run run) {
    this.run = run;
    this.outer = null;
  }

  Scope(Scope outer) {
    this.run = outer.run;
    this.outer = outer;
  }

  Run run() {
    return run;
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
    return run.variable(name);
  }
}
