package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyFailure;
import org.jspecify.annotations.Nullable;

/**
 * An error reply of the gateway. Immutable.
 *
 * @param status the HTTP status
 * @param type OpenAI's error type, for example {@code invalid_request_error}
 * @param code a machine-readable name, for example {@code model_not_found}
 * @param param the field that is wrong; null if none is
 * @param message the error in words
 * @param retryAfterSeconds when another try makes sense; 0 for no advice
 */
public record Problem(
    int status,
    String type,
    String code,
    @Nullable String param,
    String message,
    int retryAfterSeconds) {

  private static final String INVALID = "invalid_request_error";
  private static final String OVERLOADED = "overloaded_error";

  /** The code of a body whose coding is not decoded. */
  static final String UNSUPPORTED_CODING = "unsupported_content_coding";

  /** Status of a request without a key that is known. */
  static final int UNAUTHORIZED = 401;

  /** Status in logs and metrics of a request whose client went away. */
  public static final int CLIENT_GONE = 499;

  /**
   * A request that the client must correct.
   *
   * @param param the field that is wrong; null if none is
   * @param message what is wrong
   * @return the reply
   */
  public static Problem invalid(@Nullable String param, String message) {
    return new Problem(400, INVALID, "invalid_request", param, message, 0);
  }

  static Problem notFound(String code, @Nullable String param, String message) {
    return new Problem(404, INVALID, code, param, message, 0);
  }

  /**
   * An error with OpenAI's type that follows from the status.
   *
   * @param status the HTTP status
   * @param code a machine-readable name
   * @param message the error in words
   * @return the reply
   */
  public static Problem of(int status, String code, String message) {
    String type = status >= 500 ? "server_error" : INVALID;
    return new Problem(status, type, code, null, message, 0);
  }

  /**
   * A body that was not taken.
   *
   * @param failure why
   * @return the reply
   */
  public static Problem of(BodyFailure failure) {
    return failure.retryAfterSeconds() == 0
        ? of(failure.status(), failure.code(), failure.message())
        : overloaded(
            failure.status(), failure.code(), failure.message(), failure.retryAfterSeconds());
  }

  static Problem bodyTooSlow() {
    return of(408, "body_timeout", "the body arrived with too few bytes a second");
  }

  /** {@return the reply to a request at which the gateway failed} */
  public static Problem internal() {
    return of(500, "internal_error", "the gateway failed; its log has more");
  }

  static Problem overloaded(int status, String code, String message, int retryAfterSeconds) {
    return new Problem(status, OVERLOADED, code, null, message, retryAfterSeconds);
  }

  /** Anthropic's error type, which follows from the status. */
  String anthropicType() {
    return switch (status) {
      case UNAUTHORIZED -> "authentication_error";
      case 404 -> "not_found_error";
      case 413 -> "request_too_large";
      case 429 -> "rate_limit_error";
      case 503 -> OVERLOADED;
      default -> status >= 500 ? "api_error" : INVALID;
    };
  }
}
