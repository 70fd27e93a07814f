package io.kvasir.embedded;

/** A file is no model that can be served. The message is one line without the file's name. */
public final class InvalidModelException extends Exception {

  private static final long serialVersionUID = 1;

  /**
   * Makes the exception.
   *
   * @param reason the reason: "is no GGUF file"
   */
  public InvalidModelException(String reason) {
    super(reason);
  }

  /**
   * Makes the exception.
   *
   * @param reason the reason: "cannot be read: ..."
   * @param cause the cause
   */
  public InvalidModelException(String reason, Throwable cause) {
    super(reason, cause);
  }
}
