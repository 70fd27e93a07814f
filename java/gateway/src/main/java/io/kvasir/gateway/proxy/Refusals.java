package io.kvasir.gateway.proxy;

import io.kvasir.exchange.UpstreamFailure;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.WorkerProblems;
import io.kvasir.model.Errors;
import java.util.Collection;

/** The replies to requests that no worker serves. Stateless. */
final class Refusals {

  private static final int RETRY_SECONDS = 1;

  private Refusals() {}

  /** The reply to a router's refusal to send a request to any of some workers. */
  static Problem problem(RouteOutcome.Refused refused, Collection<FleetWorker> among) {
    String code = refused.refusal().id();
    return switch (refused.refusal()) {
      case REQUEST_LIMIT, RAW_ISL_TOKEN_LIMIT, TARGETS_UNREACHABLE ->
          Problem.overloaded(429, code, refused.message(), RETRY_SECONDS);
      case UNSUPPORTED_REQUEST -> Problem.of(400, code, refused.message());
      case DUPLICATE_REQUEST, SELECTOR_FAILED -> Problem.of(500, code, refused.message());
      case NO_ENDPOINT ->
          Problem.overloaded(503, code, refused.message() + reasons(among), RETRY_SECONDS);
      case ALL_OVERLOADED, PINNED_UNKNOWN, PINNED_NOT_ALLOWED, PINNED_OVERLOADED ->
          Problem.overloaded(503, code, refused.message(), RETRY_SECONDS);
    };
  }

  /** The reply where no worker takes a request, with what is wrong with them. */
  static Problem noWorker(Collection<FleetWorker> among) {
    return noWorker("no worker can take the request" + reasons(among));
  }

  /** What is wrong with workers, in parentheses; empty if nothing is known to be. */
  static String reasons(Collection<FleetWorker> among) {
    String problems = WorkerProblems.of(among);
    return problems.isEmpty() ? "" : " (" + problems + ")";
  }

  static Problem noWorker(String message) {
    return Problem.overloaded(503, "no_endpoint", message, RETRY_SECONDS);
  }

  /** The reply about an object at a worker whose models are not for the client's key. */
  static Problem notForKey() {
    return Problem.notFound(
        "model_not_found", "model", "the worker that keeps it serves no model of this API key");
  }

  /** The reply where no request may run or wait besides those that do. */
  static Problem queueFull() {
    return Problem.overloaded(
        429, "queue_full", "as many requests run and wait as the gateway may hold", RETRY_SECONDS);
  }

  /** The reply to a request that has waited for its start for too long. */
  static Problem queueTimeout(long limitMs) {
    return Problem.overloaded(
        503,
        "queue_timeout",
        "the request waited " + limitMs + " milliseconds for its start",
        RETRY_SECONDS);
  }

  /** The reply to a request of a gateway that stops. */
  static Problem shuttingDown() {
    return Problem.overloaded(503, "shutting_down", "the gateway is shutting down", RETRY_SECONDS);
  }

  /** The reply to a request whose last attempt has failed before its reply began. */
  static Problem unanswered(String worker, UpstreamFailure failure) {
    boolean timeout = failure.kind() == UpstreamFailure.Kind.TIMEOUT;
    return new Problem(
        timeout ? 504 : 502,
        "server_error",
        timeout ? "upstream_timeout" : "upstream_error",
        null,
        "worker " + worker + " did not answer: " + failure.message(),
        0);
  }

  /** The reply to an upload whose worker serves the path with a slash at its end, or without. */
  static Problem redirectedUpload(String worker, String location) {
    return Problem.of(
        502,
        "upload_redirected",
        "worker "
            + worker
            + " redirects to "
            + location
            + ", and the body of an upload is not kept to be sent again");
  }

  /** The reply to a request of the wrong method. */
  static Problem wrongMethod(String right) {
    return Problem.of(405, "method_not_allowed", "the method must be " + right);
  }

  /** The reply where a stored object may be at a worker that did not answer. */
  static Problem notAllAsked(String id) {
    return noWorker("not all workers could be asked for " + Errors.shown(id));
  }

  /** The reply where the one worker that can serve a request takes none. */
  static Problem ownerGone() {
    return noWorker("the worker that keeps the response or file cannot take requests now");
  }

  /** The reply where workers of role decode cannot serve an endpoint, and cannot share it. */
  static Problem notApart(String path) {
    return Problem.invalid(
        null,
        path + " is not served where prefill and decode workers of this engine share requests");
  }

  /** The reply to the handshake of a WebSocket. */
  static Problem webSocket() {
    return Problem.of(
        501,
        "websocket_unsupported",
        "the gateway relays no WebSockets: use HTTP, with \"stream\": true for a stream of events");
  }

  /** The reply to a body that engines may read as JSON although its type is another. */
  static Problem hiddenJson() {
    return Problem.of(
        415,
        "unsupported_media_type",
        "the body looks like JSON: its content-type must be application/json");
  }
}
