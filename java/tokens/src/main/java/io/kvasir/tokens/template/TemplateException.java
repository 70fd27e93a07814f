package io.kvasir.tokens.template;

/**
 * A chat template that was refused or could not be rendered. The message ends with the place in the
 * template, if there is one.
 *
 * <p>Immutable.
 */
public final class TemplateException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  /** Why. */
  public enum Reason {
    /** The source is not a template. */
    SYNTAX,
    /** The template uses something that Jinja may know, but Kvasir does not. */
    UNSUPPORTED,
    /** Python would raise an error for these variables. */
    RENDER,
    /**
     * The template called {@code raise_exception}: the message is for the sender of the request.
     */
    RAISED,
    /** A limit of {@link TemplateLimits} was reached. */
    LIMIT
  }

  /** Not serialised, as no field of an exception here ever is. */
  private final Reason reason;

  private final int line;
  private final int column;

  TemplateException(Reason reason, String message, int line, int column) {
    super(line > 0 ? message + " (line " + line + ", column " + column + ")" : message);
    this.reason = reason;
    this.line = line;
    this.column = column;
  }

  /** {@return why} */
  public Reason reason() {
    return reason;
  }

  /** {@return the line in the template, from 1; 0 if there is no place} */
  public int line() {
    return line;
  }

  /** {@return the column in the line, from 1, in characters; 0 if there is no place} */
  public int column() {
    return column;
  }
}
