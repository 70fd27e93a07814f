package io.kvasir.gateway.exchange;

/**
 * Why a reply ended early. Immutable.
 *
 * @param kind what failed
 * @param message the failure in words, for logs and error messages
 */
public record UpstreamFailure(Kind kind, String message) {

  /** What failed. */
  public enum Kind {
    /** No connection could be made. */
    CONNECT,
    /** A connection that had served earlier requests closed before any byte of the reply. */
    STALE_CONNECTION,
    /** The connection closed before the end of the reply. */
    CLOSED,
    /** The reply is not valid HTTP. */
    INVALID,
    /** A time limit passed. */
    TIMEOUT
  }
}
