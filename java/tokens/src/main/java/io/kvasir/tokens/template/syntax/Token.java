package io.kvasir.tokens.template.syntax;

/**
 * A piece of a template's source. Immutable.
 *
 * @param kind of it
 * @param text as parsers compare it; of a string, its value
 * @param at its offset in the source
 */
record Token(Kind kind, String text, int at) {

  enum Kind {
    DATA,
    VARIABLE_BEGIN,
    VARIABLE_END,
    BLOCK_BEGIN,
    BLOCK_END,
    NAME,
    STRING,
    INTEGER,
    FLOAT,
    OPERATOR,
    END
  }

  boolean isName(String name) {
    return kind == Kind.NAME && text.equals(name);
  }

  boolean isOperator(String operator) {
    return kind == Kind.OPERATOR && text.equals(operator);
  }

  /** For messages. */
  String described() {
    return switch (kind) {
      case DATA -> "text";
      case VARIABLE_BEGIN -> "{{";
      case VARIABLE_END -> "}}";
      case BLOCK_BEGIN -> "{%";
      case BLOCK_END -> "%}";
      case END -> "the end of the template";
      default -> "'" + (text.length() > 40 ? text.substring(0, 40) + "..." : text) + "'";
    };
  }
}
