package io.kvasir.gateway.route;

import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.exchange.UpstreamFailure.Kind;
import org.jspecify.annotations.Nullable;

/**
 * A way in which one attempt of a request failed. Immutable.
 *
 * @param way names it; two attempts with equal names failed the same way
 * @param whole whether the worker is at fault for certain; otherwise the failure counts half
 * @param mayBeRequests whether the request can be the reason: it was sent, and the worker does not
 *     say that it is busy
 * @param unconnected whether the worker accepted no connection
 * @param logged the failure in words for logs
 */
public record RequestFault(
    String way, boolean whole, boolean mayBeRequests, boolean unconnected, String logged) {

  private static final int INTERNAL_ERROR = 500;
  private static final int BAD_GATEWAY = 502;
  private static final int UNAVAILABLE = 503;
  private static final int GATEWAY_TIMEOUT = 504;

  /**
   * The fault that a status says, of a reply or of an error event.
   *
   * @param status the status
   * @return the fault; null if the status says none of the worker
   */
  public static @Nullable RequestFault ofStatus(int status) {
    return switch (status) {
      case INTERNAL_ERROR, BAD_GATEWAY, UNAVAILABLE, GATEWAY_TIMEOUT ->
          new RequestFault(
              "status_" + status,
              status != INTERNAL_ERROR,
              status != UNAVAILABLE,
              false,
              "it answers with status " + status);
      default -> null;
    };
  }

  /**
   * {@return the fault of an attempt without a complete reply}
   *
   * @param failure what became of the attempt
   */
  public static RequestFault of(UpstreamFailure failure) {
    return new RequestFault(
        failure.reason(),
        true,
        failure.kind() != Kind.CONNECT,
        failure.kind() == Kind.CONNECT,
        failure.logged());
  }
}
