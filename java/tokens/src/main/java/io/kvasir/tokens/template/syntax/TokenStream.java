package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.TemplateFault;
import java.util.List;

/** Tokens with a place among them. Not thread-safe. */
final class TokenStream {

  private final List<Token> tokens;
  private int next;

  TokenStream(List<Token> tokens) {
    this.tokens = tokens;
  }

  Token current() {
    return tokens.get(next);
  }

  Token look() {
    return tokens.get(Math.min(next + 1, tokens.size() - 1));
  }

  /** The token that was taken last. */
  Token previous() {
    return tokens.get(next - 1);
  }

  int at() {
    return current().at();
  }

  /** The current token; moves behind it. */
  Token take() {
    Token token = current();
    if (token.kind() != Token.Kind.END) {
      next++;
    }
    return token;
  }

  boolean skipName(String name) {
    boolean skips = current().isName(name);
    if (skips) {
      take();
    }
    return skips;
  }

  boolean skipOperator(String operator) {
    boolean skips = current().isOperator(operator);
    if (skips) {
      take();
    }
    return skips;
  }

  Token expect(Token.Kind kind, String what) {
    if (current().kind() != kind) {
      throw unexpected(what);
    }
    return take();
  }

  void expectOperator(String operator) {
    if (!skipOperator(operator)) {
      throw unexpected("'" + operator + "'");
    }
  }

  void expectName(String name) {
    if (!skipName(name)) {
      throw unexpected("'" + name + "'");
    }
  }

  TemplateFault unexpected(String expected) {
    return TemplateFault.syntax(at(), "expected " + expected + ", found " + current().described());
  }
}
