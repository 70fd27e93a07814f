package io.kvasir.tokens.template.syntax;

import io.kvasir.tokens.template.python.PythonText;
import io.kvasir.tokens.template.python.TemplateFault;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts a template into tokens, with the whitespace control of {@code trim_blocks} and {@code
 * lstrip_blocks}: the newline behind a block or comment is dropped, and so are spaces before one
 * that begins its line; a minus sign at a delimiter drops all whitespace, a plus sign keeps it.
 *
 * <p>Not thread-safe; for one use.
 */
final class Lexer {

  private final String source;
  private final List<Token> tokens = new ArrayList<>();
  private int at;

  /** Whether the last tag took the end of its line with it. */
  private boolean beginsLine = true;

  /**
   * @param source with newlines as {@link CompiledTemplate#normalized} makes them
   */
  Lexer(String source) {
    this.source = source;
  }

  List<Token> tokens() {
    while (at < source.length()) {
      textAndTag();
    }
    add(Token.Kind.END, "", source.length());
    return tokens;
  }

  private void add(Token.Kind kind, String text, int offset) {
    tokens.add(new Token(kind, text, offset));
  }

  private void textAndTag() {
    int tag = nextTag();
    if (tag < 0) {
      add(Token.Kind.DATA, source.substring(at), at);
      at = source.length();
      return;
    }
    char kind = source.charAt(tag + 1);
    char sign = sign(tag + 2);
    text(tag, sign, kind != '{');
    at = sign == 0 ? tag + 2 : tag + 3;
    beginsLine = false;
    switch (kind) {
      case '#' -> comment(tag);
      case '{' -> {
        add(Token.Kind.VARIABLE_BEGIN, "{{", tag);
        tag(Token.Kind.VARIABLE_END, "}}");
      }
      default -> {
        if (!raw(tag)) {
          add(Token.Kind.BLOCK_BEGIN, "{%", tag);
          tag(Token.Kind.BLOCK_END, "%}");
        }
      }
    }
  }

  private int nextTag() {
    for (int i = source.indexOf('{', at); i >= 0; i = source.indexOf('{', i + 1)) {
      if (i + 1 < source.length() && "{%#".indexOf(source.charAt(i + 1)) >= 0) {
        return i;
      }
    }
    return -1;
  }

  /** The sign of whitespace control, 0 if there is none. */
  private char sign(int offset) {
    char sign = offset < source.length() ? source.charAt(offset) : 0;
    return sign == '-' || sign == '+' ? sign : 0;
  }

  /** Text up to a tag, without the whitespace that the tag drops. */
  private void text(int end, char sign, boolean block) {
    int keep = end;
    if (sign == '-') {
      while (keep > at && PythonText.isSpace(source.charAt(keep - 1))) {
        keep--;
      }
    } else if (sign == 0 && block) {
      int line = Math.max(source.lastIndexOf('\n', end - 1) + 1, at);
      if ((line > at || beginsLine) && blank(line, end)) {
        keep = line;
      }
    }
    if (keep > at) {
      add(Token.Kind.DATA, source.substring(at, keep), at);
    }
  }

  private boolean blank(int begin, int end) {
    for (int i = begin; i < end; i++) {
      if (!PythonText.isSpace(source.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  private void comment(int begin) {
    int end = source.indexOf("#}", at);
    if (end < 0) {
      throw TemplateFault.syntax(begin, "the comment has no end");
    }
    // The end's sign belongs to it unless it is the first sign too, as in {#-#}.
    char sign = end > at ? source.charAt(end - 1) : 0;
    closed(end + 2, sign);
  }

  /** Skips what the end of a tag drops. */
  private void closed(int offset, char sign) {
    at = offset;
    if (sign == '-') {
      skipSpaces();
    } else if (sign != '+' && at < source.length() && source.charAt(at) == '\n') {
      at++;
    }
    beginsLine = source.charAt(at - 1) == '\n';
  }

  private void skipSpaces() {
    while (at < source.length() && PythonText.isSpace(source.charAt(at))) {
      at++;
    }
  }

  /** Reads a raw block, if the tag begins one. */
  private boolean raw(int begin) {
    int body = rawTagEnd(at, "raw");
    if (body < 0) {
      return false;
    }
    boolean strips = source.charAt(body - 3) == '-';
    at = body;
    if (strips) {
      skipSpaces();
    }
    beginsLine = source.charAt(at - 1) == '\n';
    for (int tag = source.indexOf("{%", at); tag >= 0; tag = source.indexOf("{%", tag + 1)) {
      char sign = sign(tag + 2);
      int end = rawTagEnd(sign == 0 ? tag + 2 : tag + 3, "endraw");
      if (end >= 0) {
        text(tag, sign, true);
        char last = source.charAt(end - 3);
        closed(end, last);
        return true;
      }
    }
    throw TemplateFault.syntax(begin, "the raw block has no end");
  }

  /** The offset behind a tag that has one word only; -1 if this is another one. */
  private int rawTagEnd(int begin, String word) {
    int i = begin;
    while (i < source.length() && PythonText.isSpace(source.charAt(i))) {
      i++;
    }
    if (!source.startsWith(word, i)) {
      return -1;
    }
    i += word.length();
    while (i < source.length() && PythonText.isSpace(source.charAt(i))) {
      i++;
    }
    char sign = sign(i);
    if (sign == '-' || (sign == '+' && word.equals("endraw"))) {
      i++;
    }
    return source.startsWith("%}", i) ? i + 2 : -1;
  }

  private void tag(Token.Kind end, String delimiter) {
    TagLexer tag = new TagLexer(source, at, tokens);
    at = tag.readUpTo(delimiter);
    if (!tag.closed()) {
      return;
    }
    add(end, delimiter, tag.closedAt());
    char sign = tag.closingSign();
    if (end == Token.Kind.BLOCK_END) {
      closed(at, sign);
    } else {
      if (sign == '-') {
        skipSpaces();
      }
      beginsLine = source.charAt(at - 1) == '\n';
    }
  }
}
