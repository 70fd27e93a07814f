package io.kvasir.tokens.template.syntax;

import java.util.List;

/** A part of a template that is executed, and may write. */
interface Statement extends Node {

  /** What follows. */
  enum Signal {
    NEXT,
    BREAK,
    CONTINUE
  }

  /** Executes it. */
  Signal exec(Scope scope);

  /** Executes statements until one leaves a loop. */
  static Signal exec(List<Statement> body, Scope scope) {
    for (int i = 0; i < body.size(); i++) {
      scope.budget().step();
      Signal signal = body.get(i).exec(scope);
      if (signal != Signal.NEXT) {
        return signal;
      }
    }
    return Signal.NEXT;
  }
}
