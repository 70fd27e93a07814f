package io.kvasir.exchange;

import java.util.Locale;

/**
 * Why a reply ended early. Immutable.
 *
 * @param kind what failed
 * @param message the failure in words, for the client; if the reply is invalid, they can repeat the
 *     engine's and so a prompt
 */
public record UpstreamFailure(Kind kind, String message) {

  /** What failed. */
  public enum Kind {
    /** No connection could be made. */
    CONNECT,
    /**
     * A connection that had served earlier requests closed before any byte of the reply, and so
     * soon that the engine may have closed it before the request arrived.
     */
    STALE_CONNECTION,
    /** The connection closed before the end of the reply. */
    CLOSED,
    /** The reply is not valid HTTP, or has an event that is too long. */
    INVALID,
    /** A time limit passed. */
    TIMEOUT
  }

  /** {@return what failed, as metrics name it} */
  public String reason() {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  /** {@return the failure in words for logs, which have none of the engine's own} */
  public String logged() {
    return kind == Kind.INVALID ? "the worker's reply is not valid" : message;
  }
}
