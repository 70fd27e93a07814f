package io.kvasir.fleet.router;

import java.util.Locale;

/** Why no rank serves a request. */
public enum Refusal {
  /** No rank is known that may serve it. */
  NO_ENDPOINT("no rank is known that may serve the request"),
  /** All ranks that may serve it are overloaded. */
  ALL_OVERLOADED("all ranks that may serve the request are overloaded"),
  /** The worker or rank that it demands is unknown. */
  PINNED_UNKNOWN("the worker or rank that the request demands is unknown"),
  /** The worker or rank that it demands may not serve it. */
  PINNED_NOT_ALLOWED("the worker or rank that the request demands is excluded or not allowed"),
  /** The worker or rank that it demands is overloaded. */
  PINNED_OVERLOADED("the worker or rank that the request demands is overloaded"),
  /** It would have to wait, but the queue holds as many requests as it may. */
  REQUEST_LIMIT("max_queued_requests requests wait already"),
  /** It would have to wait, but the queue holds as many prompt tokens as it may. */
  RAW_ISL_TOKEN_LIMIT("max_queued_tokens prompt tokens wait already"),
  /** Its targets cannot be met, and its class allows to refuse it then. */
  TARGETS_UNREACHABLE("no rank is expected to meet the targets of the request"),
  /** A request with its id is in flight or waits. */
  DUPLICATE_REQUEST("a request with this id is in flight or waits"),
  /** The policy cannot weigh such a request. */
  UNSUPPORTED_REQUEST("the policy cannot weigh such a request"),
  /** The selector failed while the request waited. */
  SELECTOR_FAILED("the selector failed");

  private final String text;

  Refusal(String text) {
    this.text = text;
  }

  /** {@return the refusal's name in metrics and JSON, for example {@code all_overloaded}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * {@return the refusal in words, for example {@code all ranks that may serve it are overloaded}}
   */
  public String text() {
    return text;
  }
}
