package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.library.Arguments;
import io.kvasir.tokens.template.python.PythonRepr;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@code call}, and {@code generation}, which writes its body.
 *
 * @param at its place
 * @param call of the macro; null for {@code generation}
 * @param body given to the macro as {@code caller}
 */
record CallBlock(int at, Invocation.@Nullable Call call, MacroDefinition body)
    implements Statement {

  @Override
  public List<Node> children() {
    return call == null ? body.children() : Node.all(List.of(List.of(call), body.children()));
  }

  @Override
  public Signal exec(Scope scope) {
    Macro caller = new Macro(body, scope);
    Object text =
        call == null
            ? caller.call(scope.budget(), Arguments.NO_ARGUMENTS)
            : call.eval(scope, caller);
    scope.state().at(at);
    scope.state().write(PythonRepr.text(text, scope.budget()));
    return Signal.NEXT;
  }
}
