package io.kvasir.embedded.disagg;

import org.jspecify.annotations.Nullable;

/**
 * KV does not come. Carries no stack trace.
 *
 * <p>A failure with a field is the request's fault: the field does not fit the transfer.
 */
final class TransferFailure extends RuntimeException {

  private static final long serialVersionUID = 1;

  private final @Nullable String param;

  private TransferFailure(@Nullable String param, String message) {
    super(message, null, false, false);
    this.param = param;
  }

  /** KV does not come, for a reason. */
  static TransferFailure because(String reason) {
    return new TransferFailure(null, reason);
  }

  /** A field does not fit the transfer. */
  static TransferFailure wrong(String param, String message) {
    return new TransferFailure(param, message);
  }

  /** The field at fault; null if there is none. */
  @Nullable String param() {
    return param;
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
