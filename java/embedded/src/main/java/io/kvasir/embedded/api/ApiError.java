package io.kvasir.embedded.api;

import org.jspecify.annotations.Nullable;

/**
 * A refusal of a request, as an HTTP status and the fields of an OpenAI error. Thrown while a
 * request is read; also a value for failures that happen later. Carries no stack trace.
 */
public final class ApiError extends RuntimeException {

  private static final long serialVersionUID = 1;

  static final int BAD_REQUEST = 400;
  static final int NOT_FOUND = 404;
  static final int METHOD_NOT_ALLOWED = 405;
  static final int TOO_LARGE = 413;

  /** Too many requests wait and run. */
  public static final int TOO_MANY = 429;

  /** The engine has failed. */
  public static final int INTERNAL = 500;

  /** The engine is closed, or none of its ranks is live. */
  public static final int UNAVAILABLE = 503;

  private final int status;
  private final String code;
  private final @Nullable String param;
  private final @Nullable String allow;

  private ApiError(int status, String code, @Nullable String param, String message) {
    this(status, code, param, message, null);
  }

  private ApiError(
      int status, String code, @Nullable String param, String message, @Nullable String allow) {
    super(message, null, false, false);
    this.status = status;
    this.code = code;
    this.param = param;
    this.allow = allow;
  }

  /** An error of a status without a field. */
  public static ApiError of(int status, String code, String message) {
    return new ApiError(status, code, null, message);
  }

  /** A path does not allow a method. */
  static ApiError method(String path, String method, String allow) {
    return new ApiError(
        METHOD_NOT_ALLOWED,
        "method_not_allowed",
        null,
        path + " allows " + allow + ", not " + method,
        allow);
  }

  /** A field of the request has a value that is not allowed; the message names field and value. */
  public static ApiError invalid(String param, String message) {
    return new ApiError(BAD_REQUEST, "invalid_value", param, message);
  }

  /** A field asks for something that this engine does not do. */
  public static ApiError unsupported(String param, String message) {
    return new ApiError(BAD_REQUEST, "unsupported_value", param, message);
  }

  /** Prompt and answer are too long; the message has the numbers. */
  public static ApiError tooLong(String param, String message) {
    return new ApiError(BAD_REQUEST, "context_length_exceeded", param, message);
  }

  int status() {
    return status;
  }

  String code() {
    return code;
  }

  /** The field at fault; null if there is none. */
  @Nullable String param() {
    return param;
  }

  /** The methods that the path allows; null unless the method is not allowed. */
  @Nullable String allow() {
    return allow;
  }

  /** OpenAI's type of the error. */
  String type() {
    return switch (status) {
      case NOT_FOUND -> "not_found_error";
      case TOO_MANY -> "rate_limit_error";
      case INTERNAL -> "server_error";
      case UNAVAILABLE -> "service_unavailable_error";
      default -> "invalid_request_error";
    };
  }

  /** Anthropic's type of the error. */
  String anthropicType() {
    return switch (status) {
      case NOT_FOUND -> "not_found_error";
      case TOO_LARGE -> "request_too_large";
      case TOO_MANY -> "rate_limit_error";
      case INTERNAL -> "api_error";
      case UNAVAILABLE -> "overloaded_error";
      default -> "invalid_request_error";
    };
  }

  @Override
  public String getMessage() {
    return String.valueOf(super.getMessage());
  }
}
