package io.kvasir.tokens.template.syntax;

import java.util.List;

/**
 * {@code macro}, and what the blocks of {@code call} and {@code generation} are.
 *
 * @param at its place
 * @param name of the macro, empty for a block
 * @param parameters names
 * @param defaults of the last parameters
 * @param frame its body
 * @param usesCaller whether the body mentions {@code caller}
 * @param usesNamed whether it mentions {@code kwargs}
 * @param usesMore whether it mentions {@code varargs}
 */
record MacroDefinition(
    int at,
    String name,
    List<Target.Name> parameters,
    List<Expression> defaults,
    Frame frame,
    boolean usesCaller,
    boolean usesNamed,
    boolean usesMore)
    implements Statement {

  List<String> parameterNames() {
    return parameters.stream().map(Target.Name::name).toList();
  }

  @Override
  public List<Node> children() {
    return Node.all(List.of(parameters, defaults, frame.body()));
  }

  @Override
  public Signal exec(Scope scope) {
    scope.set(name, new Macro(this, scope));
    return Signal.NEXT;
  }
}
