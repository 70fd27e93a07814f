package io.kvasir.gateway.openai;

import org.jspecify.annotations.Nullable;

/** A request that the client must correct: the reason for an answer with status 400. Immutable. */
public final class InvalidBodyException extends Exception {

  private static final long serialVersionUID = 1;

  private final @Nullable String param;

  /**
   * Creates the exception.
   *
   * @param param the field or header at fault, as the OpenAI API's errors name it; null if none is
   * @param message what is allowed, in words for the client
   */
  public InvalidBodyException(@Nullable String param, String message) {
    super(message, null, false, false);
    this.param = param;
  }

  /** {@return the field or header at fault; null if none is} */
  public @Nullable String param() {
    return param;
  }

  /** {@return what is allowed, in words for the client} */
  public String reason() {
    return String.valueOf(getMessage());
  }
}
