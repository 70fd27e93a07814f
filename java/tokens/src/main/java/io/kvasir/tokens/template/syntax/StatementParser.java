package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.TemplateFault;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Parses statements and the text between them. Not thread-safe; for one use. */
final class StatementParser {

  private final TokenStream tokens;
  private final ExpressionParser expressions;

  /** Whether a loop can be left here, whose body is not a macro's. */
  private boolean inLoop;

  /** The tag that ended the last block. */
  private String endOfBlock = "";

  StatementParser(TokenStream tokens, int nesting) {
    this.tokens = tokens;
    this.expressions = new ExpressionParser(tokens, nesting);
  }

  Frame template() {
    List<Statement> body = statements(Set.of());
    return new Frame(body);
  }

  /** Statements up to a tag, whose name is the current token then. */
  private List<Statement> statements(Set<String> ends) {
    List<Statement> body = new ArrayList<>();
    while (true) {
      Token token = tokens.take();
      switch (token.kind()) {
        case DATA -> body.add(new Statements.Text(token.at(), token.text()));
        case VARIABLE_BEGIN -> {
          Expression value = expressions.tuple(true, false, true, "");
          tokens.expect(Token.Kind.VARIABLE_END, "'}}'");
          body.add(new Statements.Output(token.at(), value));
        }
        case BLOCK_BEGIN -> {
          Token name = tokens.expect(Token.Kind.NAME, "the name of a tag");
          if (ends.contains(name.text())) {
            return body;
          }
          body.add(expressions.nested(() -> statement(name)));
          tokens.expect(Token.Kind.BLOCK_END, "'%}'");
        }
        default -> {
          if (ends.isEmpty()) {
            return body;
          }
          throw TemplateFault.syntax(token.at(), "the template ends before one of " + ends);
        }
      }
    }
  }

  /** The body of a statement, with the end of its tag; notes which tag ended it. */
  private List<Statement> body(String... ends) {
    tokens.skipOperator(":");
    tokens.expect(Token.Kind.BLOCK_END, "'%}'");
    List<Statement> body = statements(Set.of(ends));
    endOfBlock = tokens.previous().text();
    return body;
  }

  private Statement statement(Token name) {
    int at = name.at();
    return switch (name.text()) {
      case "set" -> set(at);
      case "if" -> branches(at);
      case "for" -> loop(at);
      case "macro" -> macro(at);
      case "call" -> call(at);
      case "filter" -> {
        Expression filtered = expressions.blockFilters(at, true);
        yield new Statements.FilterBlock(at, filtered, new Frame(body("endfilter")));
      }
      case "with" -> with(at);
      case "generation" ->
          new CallBlock(at, null, macroOf(at, "", List.of(), List.of(), "endgeneration"));
      case "break", "continue" -> {
        if (!inLoop) {
          throw TemplateFault.syntax(at, name.text() + " outside a loop");
        }
        yield new Statements.Leave(
            at, name.text().equals("break") ? Statement.Signal.BREAK : Statement.Signal.CONTINUE);
      }
      default -> throw TemplateFault.unsupported(at, "tag '" + name.text() + "'");
    };
  }

  private Statement set(int at) {
    Target target = target(true, "");
    if (tokens.skipOperator("=")) {
      return new Statements.Assign(at, target, expressions.tuple(true, false, true, ""));
    }
    Expression filtered = expressions.blockFilters(at, false);
    return new Statements.AssignBlock(at, target, filtered, new Frame(body("endset")));
  }

  private Target target(boolean namespaces, String end) {
    int at = tokens.at();
    List<Target> items = new ArrayList<>();
    boolean tuple = false;
    while (!tokens.current().isName(end) && tokens.current().kind() != Token.Kind.BLOCK_END) {
      items.add(oneTarget(namespaces));
      if (!tokens.skipOperator(",")) {
        break;
      }
      tuple = true;
    }
    if (items.isEmpty()) {
      throw tokens.unexpected("a name");
    }
    return tuple ? new Target.Tuple(at, items) : items.get(0);
  }

  private Target oneTarget(boolean namespaces) {
    if (namespaces && tokens.look().isOperator(".") && tokens.current().kind() == Token.Kind.NAME) {
      Token namespace = tokens.take();
      tokens.take();
      Token name = tokens.expect(Token.Kind.NAME, "a name");
      return new Target.Attribute(namespace.at(), namespace.text(), name.text());
    }
    return assignable(expressions.primary(), false);
  }

  private static Target assignable(Expression written, boolean parameter) {
    if (written instanceof Literals.Name name) {
      return new Target.Name(name.at(), name.name(), parameter);
    }
    if (written instanceof Literals.Sequence tuple && tuple.tuple()) {
      return new Target.Tuple(
          tuple.at(), tuple.items().stream().map(item -> assignable(item, parameter)).toList());
    }
    throw TemplateFault.syntax(written.at(), "no value can be assigned here");
  }

  private Statements.If branches(int at) {
    Expression test = expressions.tuple(false, false, true, "");
    List<Statement> body = body("elif", "else", "endif");
    List<Statements.If> others = new ArrayList<>();
    while (endOfBlock.equals("elif")) {
      int place = tokens.at();
      Expression other = expressions.tuple(false, false, true, "");
      List<Statement> statements = body("elif", "else", "endif");
      others.add(new Statements.If(place, other, statements, List.of(), List.of()));
    }
    List<Statement> otherwise = endOfBlock.equals("else") ? body("endif") : List.of();
    return new Statements.If(at, test, body, others, otherwise);
  }

  private ForLoop loop(int at) {
    Target target = target(false, "in");
    tokens.expectName("in");
    Expression items = expressions.tuple(false, false, true, "recursive");
    Expression test = tokens.skipName("if") ? expressions.expression() : null;
    boolean recursive = tokens.skipName("recursive");
    boolean outside = inLoop;
    inLoop = true;
    Frame body = new Frame(body("endfor", "else"));
    inLoop = outside && !recursive;
    Frame otherwise = new Frame(endOfBlock.equals("else") ? body("endfor") : List.of());
    inLoop = outside;
    boolean extended = recursive || Mentions.of(body.body(), Set.of("loop")).contains("loop");
    ForLoop loop =
        new ForLoop(
            at, target, items, test, new Frame(List.of()), body, otherwise, recursive, extended);
    Mentions.refuseAssigned(loop, "loop");
    return loop;
  }

  private Statement with(int at) {
    List<Target> targets = new ArrayList<>();
    List<Expression> values = new ArrayList<>();
    while (tokens.current().kind() != Token.Kind.BLOCK_END) {
      if (!targets.isEmpty()) {
        tokens.expectOperator(",");
      }
      targets.add(assignable(expressions.tuple(false, false, false, ""), true));
      tokens.expectOperator("=");
      values.add(expressions.expression());
    }
    return new Statements.With(at, targets, values, new Frame(body("endwith")));
  }

  private MacroDefinition macro(int at) {
    String name = parameter().name();
    List<Expression> defaults = new ArrayList<>();
    List<Target.Name> parameters = signature(defaults);
    return macroOf(at, name, parameters, defaults, "endmacro");
  }

  private Target.Name parameter() {
    Token name = tokens.expect(Token.Kind.NAME, "a name");
    if (Set.of("true", "false", "none", "True", "False", "None").contains(name.text())) {
      throw TemplateFault.syntax(name.at(), "no value can be assigned to " + name.text());
    }
    return new Target.Name(name.at(), name.text(), true);
  }

  private List<Target.Name> signature(List<Expression> defaults) {
    tokens.expectOperator("(");
    List<Target.Name> parameters = new ArrayList<>();
    while (!tokens.current().isOperator(")")) {
      if (!parameters.isEmpty()) {
        tokens.expectOperator(",");
      }
      Target.Name parameter = parameter();
      if (tokens.skipOperator("=")) {
        defaults.add(expressions.expression());
      } else if (!defaults.isEmpty()) {
        throw TemplateFault.syntax(parameter.at(), "a parameter without default follows others");
      }
      if (parameters.stream().anyMatch(other -> other.name().equals(parameter.name()))) {
        throw TemplateFault.syntax(parameter.at(), "two parameters have one name");
      }
      parameters.add(parameter);
    }
    tokens.expectOperator(")");
    return parameters;
  }

  private MacroDefinition macroOf(
      int at, String name, List<Target.Name> parameters, List<Expression> defaults, String end) {
    boolean outside = inLoop;
    inLoop = false;
    Frame frame = new Frame(body(end));
    inLoop = outside;
    Set<String> used = Mentions.of(frame.body(), Set.of("caller", "kwargs", "varargs"));
    List<String> names = parameters.stream().map(Target.Name::name).toList();
    int caller = names.indexOf("caller");
    if (used.contains("caller") && caller >= 0 && caller < names.size() - defaults.size()) {
      throw TemplateFault.syntax(at, "the parameter caller needs a default");
    }
    return new MacroDefinition(
        at,
        name,
        parameters,
        defaults,
        frame,
        used.contains("caller"),
        used.contains("kwargs") && !names.contains("kwargs"),
        used.contains("varargs") && !names.contains("varargs"));
  }

  private Statement call(int at) {
    List<Expression> defaults = new ArrayList<>();
    List<Target.Name> parameters =
        tokens.current().isOperator("(") ? signature(defaults) : List.of();
    if (!(expressions.expression() instanceof Invocation.Call call)) {
      throw TemplateFault.syntax(at, "expected a call");
    }
    return new CallBlock(at, call, macroOf(at, "", parameters, defaults, "endcall"));
  }
}
