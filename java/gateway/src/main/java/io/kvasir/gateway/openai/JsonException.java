package io.kvasir.gateway.openai;

/** Bytes that are not valid JSON. Has no stack trace, so it is cheap. Immutable. */
final class JsonException extends Exception {

  private static final long serialVersionUID = 1;

  /** What is wrong. */
  enum Kind {
    /** The grammar of RFC 8259. */
    SYNTAX,
    /** The encoding of a text. */
    UTF8,
    /** Too many arrays and objects in each other. */
    DEPTH
  }

  private final Kind kind;
  private final int index;

  /**
   * Creates the exception.
   *
   * @param kind what is wrong
   * @param index where in the array
   * @param message what is allowed there
   */
  JsonException(Kind kind, int index, String message) {
    super(message, null, false, false);
    this.kind = kind;
    this.index = index;
  }

  /** {@return what is wrong} */
  Kind kind() {
    return kind;
  }

  /** {@return where in the array} */
  int index() {
    return index;
  }
}
