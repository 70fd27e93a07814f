package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.Missing;
import java.util.List;
import java.util.Set;

/** Statements with names of their own. Immutable once the template is compiled. */
final class Frame {

  private final List<Statement> body;
  private String[] undefined = {};

  Frame(List<Statement> body) {
    this.body = body;
  }

  List<Statement> body() {
    return body;
  }

  /**
   * Notes names that have no value when the frame is entered, because the template mentions them
   * there first where it assigns them: variables of the caller's with such names are hidden.
   */
  void undefined(Set<String> names) {
    undefined = names.toArray(new String[0]);
  }

  /** A scope for the frame. */
  Scope enter(Scope outer) {
    Scope scope = new Scope(outer);
    hide(scope);
    return scope;
  }

  void hide(Scope scope) {
    for (String name : undefined) {
      scope.set(name, Missing.MISSING);
    }
  }

  Statement.Signal exec(Scope scope) {
    return Statement.exec(body, scope);
  }
}
