package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.None;
import io.kvasir.tokens.template.python.PythonNumbers;
import io.kvasir.tokens.template.python.TemplateFault;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** Parses expressions, from the loosest operator to the tightest. Not thread-safe. */
final class ExpressionParser {

  private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");
  private static final Set<String> SUMS = Set.of("+", "-");
  private static final Set<String> PRODUCTS = Set.of("*", "/", "//", "%");

  /** Python reads no longer integers. */
  private static final int LONGEST_INTEGER = 4300;

  private final TokenStream tokens;
  private final int deepest;
  private final PostfixParser postfix;
  private int depth;

  ExpressionParser(TokenStream tokens, int deepest) {
    this.tokens = tokens;
    this.deepest = deepest;
    this.postfix = new PostfixParser(tokens, this);
  }

  /** Parses something nested. */
  <T> T nested(Supplier<T> parser) {
    if (++depth > deepest) {
      throw TemplateFault.limit(tokens.at(), "nested more than " + deepest + " deep");
    }
    T parsed = parser.get();
    depth--;
    return parsed;
  }

  Expression expression() {
    return nested(this::conditional);
  }

  private Expression conditional() {
    Expression value = or();
    while (tokens.current().isName("if")) {
      int at = tokens.take().at();
      Expression test = or();
      Expression other = tokens.skipName("else") ? nested(this::conditional) : null;
      value = new Operations.Conditional(at, test, value, other);
    }
    return value;
  }

  private Expression or() {
    Expression left = and();
    while (tokens.current().isName("or")) {
      int at = tokens.take().at();
      left = new Operations.Logic(at, false, left, and());
    }
    return left;
  }

  private Expression and() {
    Expression left = not();
    while (tokens.current().isName("and")) {
      int at = tokens.take().at();
      left = new Operations.Logic(at, true, left, not());
    }
    return left;
  }

  private Expression not() {
    if (tokens.current().isName("not")) {
      int at = tokens.take().at();
      return new Operations.Not(at, nested(this::not));
    }
    return comparison();
  }

  private Expression comparison() {
    int at = tokens.at();
    Expression first = sum();
    List<String> operators = new ArrayList<>();
    List<Expression> others = new ArrayList<>();
    while (true) {
      Token token = tokens.current();
      if (token.kind() == Token.Kind.OPERATOR && COMPARISONS.contains(token.text())) {
        operators.add(tokens.take().text());
      } else if (tokens.skipName("in")) {
        operators.add("in");
      } else if (token.isName("not") && tokens.look().isName("in")) {
        tokens.take();
        tokens.take();
        operators.add("not in");
      } else {
        break;
      }
      others.add(sum());
    }
    return operators.isEmpty() ? first : new Operations.Compare(at, first, operators, others);
  }

  private boolean atOperator(Set<String> operators) {
    Token token = tokens.current();
    return token.kind() == Token.Kind.OPERATOR && operators.contains(token.text());
  }

  private Expression sum() {
    Expression left = concatenation();
    while (atOperator(SUMS)) {
      Token operator = tokens.take();
      left = new Operations.Binary(operator.at(), operator.text(), left, concatenation());
    }
    return left;
  }

  private Expression concatenation() {
    int at = tokens.at();
    List<Expression> parts = new ArrayList<>();
    do {
      parts.add(product());
    } while (tokens.skipOperator("~"));
    return parts.size() == 1 ? parts.get(0) : new Operations.Concatenation(at, parts);
  }

  private Expression product() {
    Expression left = power();
    while (atOperator(PRODUCTS)) {
      Token operator = tokens.take();
      left = new Operations.Binary(operator.at(), operator.text(), left, power());
    }
    return left;
  }

  private Expression power() {
    Expression left = unary(true);
    while (tokens.current().isOperator("**")) {
      int at = tokens.take().at();
      left = new Operations.Binary(at, "**", left, unary(true));
    }
    return left;
  }

  private Expression unary(boolean filters) {
    int at = tokens.at();
    Expression operand;
    if (tokens.skipOperator("-")) {
      operand = new Operations.Unary(at, '-', nested(() -> unary(false)));
    } else if (tokens.skipOperator("+")) {
      operand = new Operations.Unary(at, '+', nested(() -> unary(false)));
    } else {
      operand = primary();
    }
    operand = postfix.parts(operand);
    return filters ? postfix.filters(operand) : operand;
  }

  Expression primary() {
    Token token = tokens.current();
    int at = token.at();
    switch (token.kind()) {
      case NAME -> {
        tokens.take();
        return name(token);
      }
      case STRING -> {
        StringBuilder text = new StringBuilder();
        while (tokens.current().kind() == Token.Kind.STRING) {
          text.append(tokens.take().text());
        }
        return new Literals.Constant(at, text.toString());
      }
      case INTEGER -> {
        tokens.take();
        return new Literals.Constant(at, integer(token));
      }
      case FLOAT -> {
        tokens.take();
        return new Literals.Constant(at, Double.parseDouble(token.text()));
      }
      default -> {
        return bracketed(token);
      }
    }
  }

  private static Expression name(Token token) {
    return switch (token.text()) {
      case "true", "True" -> new Literals.Constant(token.at(), true);
      case "false", "False" -> new Literals.Constant(token.at(), false);
      case "none", "None" -> new Literals.Constant(token.at(), None.NONE);
      default -> new Literals.Name(token.at(), token.text());
    };
  }

  static Object integer(Token token) {
    String text = token.text();
    int radix =
        text.length() < 2
            ? 10
            : switch (text.charAt(1)) {
              case 'x', 'X' -> 16;
              case 'o', 'O' -> 8;
              case 'b', 'B' -> 2;
              default -> 10;
            };
    if (radix == 10 && text.length() > LONGEST_INTEGER) {
      throw TemplateFault.syntax(token.at(), "the integer is too long");
    }
    return PythonNumbers.integer(new BigInteger(radix == 10 ? text : text.substring(2), radix));
  }

  private Expression bracketed(Token token) {
    if (tokens.skipOperator("(")) {
      Expression inner = nested(() -> tuple(true, true, true, ""));
      tokens.expectOperator(")");
      return inner;
    }
    if (tokens.skipOperator("[")) {
      return nested(() -> list(token.at()));
    }
    if (tokens.skipOperator("{")) {
      return nested(() -> dict(token.at()));
    }
    throw TemplateFault.syntax(token.at(), "unexpected " + token.described());
  }

  /**
   * One expression, or several with commas between them, which are a tuple.
   *
   * @param conditional whether {@code if} may follow an expression
   * @param parentheses whether they surround the tuple, so that it may be empty
   * @param full whether items are expressions, not names and literals only
   * @param end a name that ends the tuple
   */
  Expression tuple(boolean conditional, boolean parentheses, boolean full, String end) {
    int at = tokens.at();
    List<Expression> items = new ArrayList<>();
    boolean tuple = false;
    while (!endsTuple(end)) {
      items.add(!full ? primary() : conditional ? expression() : nested(this::or));
      if (!tokens.skipOperator(",")) {
        break;
      }
      tuple = true;
    }
    if (!tuple && !items.isEmpty()) {
      return items.get(0);
    }
    if (!tuple && !parentheses) {
      throw tokens.unexpected("an expression");
    }
    return new Literals.Sequence(at, items, true);
  }

  private boolean endsTuple(String end) {
    Token token = tokens.current();
    return token.kind() == Token.Kind.VARIABLE_END
        || token.kind() == Token.Kind.BLOCK_END
        || token.isOperator(")")
        || (!end.isEmpty() && token.isName(end));
  }

  private Expression list(int at) {
    List<Expression> items = new ArrayList<>();
    while (!tokens.current().isOperator("]")) {
      items.add(expression());
      if (!tokens.current().isOperator("]")) {
        tokens.expectOperator(",");
      }
    }
    tokens.expectOperator("]");
    return new Literals.Sequence(at, items, false);
  }

  private Expression dict(int at) {
    List<Expression> keys = new ArrayList<>();
    List<Expression> values = new ArrayList<>();
    while (!tokens.current().isOperator("}")) {
      keys.add(expression());
      tokens.expectOperator(":");
      values.add(expression());
      if (!tokens.current().isOperator("}")) {
        tokens.expectOperator(",");
      }
    }
    tokens.expectOperator("}");
    return new Literals.Dict(at, keys, values);
  }

  /** Filters of a block, applied to its text. */
  Expression blockFilters(int at, boolean bare) {
    return postfix.blockFilters(new Literals.BlockText(at), bare);
  }
}
