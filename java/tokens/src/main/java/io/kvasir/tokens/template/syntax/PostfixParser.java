package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.library.Filters;
import io.kvasir.tokens.template.library.Tests;
import io.kvasir.tokens.template.python.PythonAttributes;
import io.kvasir.tokens.template.python.TemplateFault;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Parses what follows an operand: parts, calls, filters and tests. Not thread-safe. */
final class PostfixParser {

  private static final Set<String> BEHIND_TESTS = Set.of("else", "or", "and");

  private final TokenStream tokens;
  private final ExpressionParser expressions;

  PostfixParser(TokenStream tokens, ExpressionParser expressions) {
    this.tokens = tokens;
    this.expressions = expressions;
  }

  /** Attributes, items and calls. */
  Expression parts(Expression operand) {
    Expression value = operand;
    while (true) {
      Token token = tokens.current();
      if (token.isOperator(".")) {
        value = attribute(value);
      } else if (token.isOperator("[")) {
        value = item(value);
      } else if (token.isOperator("(")) {
        value = call(value);
      } else {
        return value;
      }
    }
  }

  private Expression attribute(Expression value) {
    int at = tokens.take().at();
    Token name = tokens.take();
    if (name.kind() == Token.Kind.INTEGER) {
      return new Access.Item(
          at, value, new Literals.Constant(name.at(), ExpressionParser.integer(name)));
    }
    if (name.kind() != Token.Kind.NAME) {
      throw TemplateFault.syntax(name.at(), "expected a name behind the point");
    }
    if (name.text().startsWith("__")) {
      throw TemplateFault.unsupported(name.at(), "attribute '" + name.text() + "'");
    }
    return new Access.Attribute(name.at(), value, name.text());
  }

  private Expression item(Expression value) {
    int at = tokens.take().at();
    List<Expression> keys = new ArrayList<>();
    Expression found = null;
    while (!tokens.current().isOperator("]")) {
      if (!keys.isEmpty() || found != null) {
        tokens.expectOperator(",");
      }
      Expression key = slice(at, value);
      if (key instanceof Access.Slice) {
        found = key;
      } else {
        keys.add(((Literals.Sequence) key).items().get(0));
      }
    }
    tokens.expectOperator("]");
    if (found != null) {
      if (!keys.isEmpty()) {
        throw TemplateFault.unsupported(at, "a slice in a tuple");
      }
      return found;
    }
    Expression key = keys.size() == 1 ? keys.get(0) : new Literals.Sequence(at, keys, true);
    return new Access.Item(at, value, key);
  }

  /** A slice of the value; a key alone comes in a list. */
  private Expression slice(int at, Expression value) {
    Expression start = bound();
    if (!tokens.skipOperator(":")) {
      if (start == null) {
        throw tokens.unexpected("an expression");
      }
      return new Literals.Sequence(at, List.of(start), false);
    }
    Expression stop = bound();
    Expression step = tokens.skipOperator(":") ? bound() : null;
    return new Access.Slice(at, value, start, stop, step);
  }

  private @Nullable Expression bound() {
    Token token = tokens.current();
    return token.isOperator(":") || token.isOperator("]") || token.isOperator(",")
        ? null
        : expressions.expression();
  }

  private Invocation.Call call(Expression callee) {
    int at = callee.at();
    Invocation.Written arguments = expressions.nested(this::arguments);
    if (callee instanceof Access.Attribute attribute
        && !PythonAttributes.isMethod(attribute.name())) {
      throw TemplateFault.unsupported(at, "method '" + attribute.name() + "'");
    }
    return new Invocation.Call(at, callee, arguments);
  }

  private Invocation.Written arguments() {
    int at = tokens.take().at();
    List<Expression> positional = new ArrayList<>();
    Map<String, Expression> named = new LinkedHashMap<>();
    Expression more = null;
    Expression moreNamed = null;
    while (!tokens.current().isOperator(")")) {
      boolean last = moreNamed != null;
      if (tokens.skipOperator("*")) {
        last |= more != null;
        more = expressions.expression();
      } else if (tokens.skipOperator("**")) {
        moreNamed = expressions.expression();
      } else if (tokens.current().kind() == Token.Kind.NAME && tokens.look().isOperator("=")) {
        Token name = tokens.take();
        tokens.take();
        if (named.put(name.text(), expressions.expression()) != null) {
          throw TemplateFault.syntax(name.at(), "repeated argument '" + name.text() + "'");
        }
      } else {
        last |= more != null || !named.isEmpty();
        positional.add(expressions.expression());
      }
      if (last) {
        throw TemplateFault.syntax(at, "the order of the arguments is not possible");
      }
      if (!tokens.current().isOperator(")")) {
        tokens.expectOperator(",");
      }
    }
    tokens.expectOperator(")");
    return new Invocation.Written(positional, named, more, moreNamed);
  }

  /** Filters, tests and calls. */
  Expression filters(Expression operand) {
    Expression value = operand;
    while (true) {
      Token token = tokens.current();
      if (token.isOperator("|")) {
        tokens.take();
        value = filter(value);
      } else if (token.isName("is")) {
        value = test(value);
      } else if (token.isOperator("(")) {
        value = call(value);
      } else {
        return value;
      }
    }
  }

  /**
   * @param bare whether the first filter has no bar before it
   */
  Expression blockFilters(Expression text, boolean bare) {
    Expression value = bare ? filter(text) : text;
    while (tokens.skipOperator("|")) {
      value = filter(value);
    }
    return value;
  }

  private Token dottedName() {
    Token name = tokens.expect(Token.Kind.NAME, "a name");
    if (tokens.current().isOperator(".")) {
      throw TemplateFault.unsupported(name.at(), "filters and tests with points in their names");
    }
    return name;
  }

  private Invocation.Written optionalArguments() {
    return tokens.current().isOperator("(")
        ? expressions.nested(this::arguments)
        : Invocation.Written.NOTHING;
  }

  private Expression filter(Expression value) {
    Token name = dottedName();
    Filters.Filter filter = Filters.ALL.get(name.text());
    if (filter == null) {
      throw TemplateFault.unsupported(name.at(), "filter '" + name.text() + "'");
    }
    Invocation.Written arguments = optionalArguments();
    checkNames(name, arguments);
    return new Invocation.FilterCall(name.at(), value, filter, arguments);
  }

  /** Filters and tests that are named by strings. */
  private static void checkNames(Token filter, Invocation.Written arguments) {
    int index = filter.text().endsWith("attr") ? 1 : 0;
    if (arguments.positional().size() <= index
        || !(arguments.positional().get(index) instanceof Literals.Constant constant)
        || !(constant.value() instanceof String name)) {
      return;
    }
    boolean known =
        switch (filter.text()) {
          case "map" -> Filters.ALL.containsKey(name);
          case "select", "reject", "selectattr", "rejectattr" -> Tests.ALL.containsKey(name);
          default -> true;
        };
    if (!known) {
      throw TemplateFault.unsupported(
          constant.at(), (filter.text().equals("map") ? "filter '" : "test '") + name + "'");
    }
  }

  private Expression test(Expression value) {
    int at = tokens.take().at();
    boolean negated = tokens.skipName("not");
    Token name = dottedName();
    Tests.Test test = Tests.ALL.get(name.text());
    if (test == null) {
      throw TemplateFault.unsupported(name.at(), "test '" + name.text() + "'");
    }
    Invocation.Written arguments = Invocation.Written.NOTHING;
    if (tokens.current().isOperator("(")) {
      arguments = expressions.nested(this::arguments);
    } else if (argumentFollows()) {
      if (tokens.current().isName("is")) {
        throw TemplateFault.syntax(tokens.at(), "tests cannot be chained with is");
      }
      Expression argument = expressions.nested(() -> parts(expressions.primary()));
      arguments = new Invocation.Written(List.of(argument), Map.of(), null, null);
    }
    Expression call = new Invocation.FilterCall(name.at(), value, test::apply, arguments);
    return negated ? new Operations.Not(at, call) : call;
  }

  private boolean argumentFollows() {
    Token token = tokens.current();
    return switch (token.kind()) {
      case NAME -> !BEHIND_TESTS.contains(token.text());
      case STRING, INTEGER, FLOAT -> true;
      default -> token.isOperator("[") || token.isOperator("{");
    };
  }
}
