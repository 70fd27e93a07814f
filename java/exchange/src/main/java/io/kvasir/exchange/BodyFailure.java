package io.kvasir.exchange;

/**
 * Why the body of a request was not taken, in the words of a reply. Immutable.
 *
 * @param status the HTTP status
 * @param code a machine-readable name, for example {@code body_too_large}
 * @param message the failure in words
 * @param retryAfterSeconds when another try makes sense; 0 for no advice
 */
public record BodyFailure(int status, String code, String message, int retryAfterSeconds) {

  private static final int BUDGET_RETRY_SECONDS = 1;

  private BodyFailure(int status, String code, String message) {
    this(status, code, message, 0);
  }

  /** {@return the failure of a body that is not valid HTTP} */
  public static BodyFailure invalidHttp() {
    return new BodyFailure(400, "invalid_http", "the body is not valid HTTP/1.1");
  }

  /** {@return the failure of a request whose content-length is no number} */
  static BodyFailure invalidLength() {
    return new BodyFailure(400, "invalid_request", "content-length must be a number of bytes");
  }

  /**
   * The failure of a body that arrives too late.
   *
   * @param limitMs the limit, in milliseconds
   * @return the failure
   */
  public static BodyFailure timeout(long limitMs) {
    return new BodyFailure(
        408, "body_timeout", "the body did not arrive within " + limitMs + " milliseconds");
  }

  /**
   * The failure of a body that is too large.
   *
   * @param maxBytes the largest body, in bytes
   * @return the failure
   */
  public static BodyFailure tooLarge(long maxBytes) {
    return new BodyFailure(
        413, "body_too_large", "the body must not exceed " + maxBytes + " bytes");
  }

  /** A request that needs more than it could ever have of the budget. */
  static BodyFailure neverFits(long maxBytes) {
    return new BodyFailure(
        413,
        "body_too_large",
        "the body and what is decoded of it must not exceed " + maxBytes + " bytes together");
  }

  /** {@return the failure of a request for which the budget has no room now} */
  public static BodyFailure noRoom() {
    return new BodyFailure(
        503,
        "body_budget_exhausted",
        "the gateway holds as many bytes of requests as it may, for all clients or for this one",
        BUDGET_RETRY_SECONDS);
  }
}
