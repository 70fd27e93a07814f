package io.kvasir.gateway.proxy;

import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodyScan;

/**
 * Which requests may be sent again after an attempt failed. An attempt whose request never left
 * says nothing to an engine. After that, only requests whose repetition changes nothing are sent
 * again (RFC 9110, section 9.2.2): those that compute an answer and leave nothing behind at the
 * engine, and {@code GET} and {@code HEAD}. Stateless.
 */
final class Repetition {

  private Repetition() {}

  /** Whether a request may be sent again although an engine may have begun with it. */
  static boolean afterSend(Inbound inbound) {
    BodyScan body = inbound.body();
    if (inbound.upload() != null) {
      return false;
    }
    return body == null
        ? isSafe(inbound)
        : inbound.endpoint() != Endpoint.OTHER && !leavesState(inbound.endpoint(), body);
  }

  /**
   * Whether a request may be sent again after a failure. One that was not answered in time may not:
   * the engine may be computing it, and the next one would need as long.
   */
  static boolean after(UpstreamFailure failure, Inbound inbound) {
    return switch (failure.kind()) {
      case CONNECT -> true;
      case TIMEOUT -> false;
      case STALE_CONNECTION, CLOSED, INVALID -> afterSend(inbound);
    };
  }

  private static boolean isSafe(Inbound inbound) {
    return inbound.method().equals("GET") || inbound.method().equals("HEAD");
  }

  /** Whether an engine keeps a response: responses are stored unless the request says otherwise. */
  private static boolean leavesState(Endpoint endpoint, BodyScan body) {
    boolean stores =
        endpoint == Endpoint.RESPONSES
            ? !body.isFalse(BodyField.STORE)
            : body.has(BodyField.STORE) && !body.isFalse(BodyField.STORE);
    return stores || (body.has(BodyField.BACKGROUND) && !body.isFalse(BodyField.BACKGROUND));
  }
}
