package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.PythonText;
import io.kvasir.tokens.template.python.TemplateFault;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Cuts the inside of one tag into tokens. Not thread-safe; for one use. */
final class TagLexer {

  private static final Pattern FLOAT =
      Pattern.compile(
          "(?<!\\.)(?:[0-9]+_)*+[0-9]++"
              + "(?:(?:\\.(?:[0-9]+_)*[0-9]+)?[eE][+-]?(?:[0-9]+_)*[0-9]+|\\.(?:[0-9]+_)*[0-9]+)");
  private static final Pattern INTEGER =
      Pattern.compile(
          "0[bB](?:_?[01])++|0[oO](?:_?[0-7])++|0[xX](?:_?[0-9a-fA-F])++|[1-9](?:_?[0-9])*+|0(?:_?0)*+");
  private static final String[] OPERATORS = {
    "//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}",
    ">", "<", "=", ".", ":", "|", ",", ";"
  };

  private final String source;
  private final List<Token> tokens;
  private final Deque<Character> open = new ArrayDeque<>();
  private int at;
  private int closedAt = -1;
  private char closingSign;

  TagLexer(String source, int at, List<Token> tokens) {
    this.source = source;
    this.at = at;
    this.tokens = tokens;
  }

  /** Whether the delimiter was found. */
  boolean closed() {
    return closedAt >= 0;
  }

  int closedAt() {
    return closedAt;
  }

  /** The sign of whitespace control at the delimiter, 0 if there is none. */
  char closingSign() {
    return closingSign;
  }

  /** Reads tokens up to the delimiter outside brackets, and returns the offset behind it. */
  int readUpTo(String delimiter) {
    while (at < source.length()) {
      if (open.isEmpty() && closes(delimiter)) {
        return at;
      }
      char c = source.charAt(at);
      if (PythonText.isSpace(c)) {
        at++;
      } else if (c >= '0' && c <= '9') {
        number();
      } else if (c == '_' || Character.isLetterOrDigit(c) || c >= 0x80) {
        name();
      } else if (c == '\'' || c == '"') {
        string(c);
      } else {
        operator();
      }
    }
    return at;
  }

  private boolean closes(String delimiter) {
    int sign = 0;
    char c = source.charAt(at);
    if (c == '-' || (c == '+' && delimiter.equals("%}"))) {
      sign = c;
    }
    int begin = sign == 0 ? at : at + 1;
    if (!source.startsWith(delimiter, begin)) {
      return false;
    }
    closingSign = (char) sign;
    closedAt = at;
    at = begin + delimiter.length();
    return true;
  }

  private void number() {
    if (!number(FLOAT, Token.Kind.FLOAT)) {
      number(INTEGER, Token.Kind.INTEGER);
    }
  }

  private boolean number(Pattern pattern, Token.Kind kind) {
    Matcher matcher = pattern.matcher(source).region(at, source.length());
    matcher.useTransparentBounds(true);
    if (!matcher.lookingAt()) {
      return false;
    }
    tokens.add(new Token(kind, matcher.group().replace("_", ""), at));
    at = matcher.end();
    return true;
  }

  private void name() {
    int begin = at;
    while (at < source.length()) {
      char c = source.charAt(at);
      if (c >= 0x80) {
        throw TemplateFault.unsupported(at, "names have ASCII letters, digits and _ only");
      }
      if (c != '_' && !Character.isLetterOrDigit(c)) {
        break;
      }
      at++;
    }
    tokens.add(new Token(Token.Kind.NAME, source.substring(begin, at), begin));
  }

  private void string(char quote) {
    int begin = at;
    int end = begin + 1;
    while (end < source.length() && source.charAt(end) != quote) {
      end += source.charAt(end) == '\\' ? 2 : 1;
    }
    if (end >= source.length()) {
      throw TemplateFault.syntax(begin, "the string has no end");
    }
    String value = StringEscapes.decoded(source.substring(begin + 1, end), begin);
    tokens.add(new Token(Token.Kind.STRING, value, begin));
    at = end + 1;
  }

  private void operator() {
    for (String operator : OPERATORS) {
      if (source.startsWith(operator, at)) {
        balance(operator);
        tokens.add(new Token(Token.Kind.OPERATOR, operator, at));
        at += operator.length();
        return;
      }
    }
    throw TemplateFault.syntax(at, "unexpected character '" + source.charAt(at) + "'");
  }

  private void balance(String operator) {
    switch (operator) {
      case "{" -> open.push('}');
      case "(" -> open.push(')');
      case "[" -> open.push(']');
      case "}", ")", "]" -> {
        if (open.isEmpty() || open.pop() != operator.charAt(0)) {
          throw TemplateFault.syntax(at, "unexpected '" + operator + "'");
        }
      }
      default -> {}
    }
  }
}
