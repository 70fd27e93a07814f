package io.kvasir.tokens.template.python;

import java.io.Serial;

/**
 * A failure inside a template, before its place is known as line and column. Confined to the thread
 * that compiles or renders.
 */
public final class TemplateFault extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  /** What has failed. */
  public enum Kind {
    SYNTAX,
    UNSUPPORTED,
    RENDER,
    RAISED,
    LIMIT
  }

  /** The place is not known yet. */
  public static final int NOWHERE = -1;

  private final Kind kind;
  private final int at;

  private TemplateFault(Kind kind, String message, int at) {
    super(message, null, false, false);
    this.kind = kind;
    this.at = at;
  }

  public Kind kind() {
    return kind;
  }

  public int at() {
    return at;
  }

  /** The same failure, at a place unless its own is known. */
  public TemplateFault placed(int place) {
    return at == NOWHERE ? new TemplateFault(kind, text(), place) : this;
  }

  public String text() {
    return String.valueOf(getMessage());
  }

  public static TemplateFault syntax(int at, String message) {
    return new TemplateFault(Kind.SYNTAX, message, at);
  }

  public static TemplateFault unsupported(int at, String message) {
    return new TemplateFault(Kind.UNSUPPORTED, message, at);
  }

  public static TemplateFault unsupported(String message) {
    return unsupported(NOWHERE, message);
  }

  /** What Python or Jinja would raise. */
  public static TemplateFault error(String message) {
    return new TemplateFault(Kind.RENDER, message, NOWHERE);
  }

  public static TemplateFault raised(String message) {
    return new TemplateFault(Kind.RAISED, message, NOWHERE);
  }

  public static TemplateFault limit(String message) {
    return limit(NOWHERE, message);
  }

  public static TemplateFault limit(int at, String message) {
    return new TemplateFault(Kind.LIMIT, message, at);
  }
}
