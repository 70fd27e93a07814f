package io.kvasir.tokens.template;

import java.io.Serial;

/**
 * A failure inside a template, before its place is known as line and column: {@link
 * JinjaChatTemplate} turns it into a {@link TemplateException}. Confined to the thread that
 * compiles or renders.
 */
final class TemplateFault extends RuntimeException {

  @Serial private static final long serialVersionUID = 1L;

  /** The place is not known yet. */
  static final int NOWHERE = -1;

  private final TemplateException.Reason reason;
  private final int at;

  private TemplateFault(TemplateException.Reason reason, String message, int at) {
    super(message, null, false, false);
    this.reason = reason;
    this.at = at;
  }

  TemplateException.Reason reason() {
    return reason;
  }

  int at() {
    return at;
  }

  String text() {
    return String.valueOf(getMessage());
  }

  static TemplateFault syntax(int at, String message) {
    return new TemplateFault(TemplateException.Reason.SYNTAX, message, at);
  }

  static TemplateFault unsupported(int at, String message) {
    return new TemplateFault(TemplateException.Reason.UNSUPPORTED, message, at);
  }

  static TemplateFault unsupported(String message) {
    return unsupported(NOWHERE, message);
  }

  /** What Python or Jinja would raise. */
  static TemplateFault error(String message) {
    return new TemplateFault(TemplateException.Reason.RENDER, message, NOWHERE);
  }

  static TemplateFault raised(String message) {
    return new TemplateFault(TemplateException.Reason.RAISED, message, NOWHERE);
  }

  static TemplateFault limit(String message) {
    return limit(NOWHERE, message);
  }

  static TemplateFault limit(int at, String message) {
    return new TemplateFault(TemplateException.Reason.LIMIT, message, at);
  }
}
