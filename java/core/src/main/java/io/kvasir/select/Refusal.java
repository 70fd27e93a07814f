package io.kvasir.select;

import java.util.Locale;

/** Why no rank serves a request. */
public enum Refusal {
  /** No rank is known that may serve it. */
  NO_ENDPOINT("no rank is there that may serve it"),
  /** All ranks that may serve it are overloaded. */
  ALL_OVERLOADED("all ranks that may serve it are overloaded"),
  /** The rank that it is pinned to is unknown. */
  PINNED_UNKNOWN("the worker or rank it is pinned to is unknown"),
  /** The rank that it is pinned to may not serve it. */
  PINNED_NOT_ALLOWED("the worker or rank it is pinned to is excluded or not allowed"),
  /** The rank that it is pinned to is overloaded. */
  PINNED_OVERLOADED("the worker or rank it is pinned to is overloaded"),
  /** It would have to wait, but as many requests wait as may. */
  REQUEST_LIMIT("maxQueuedRequests requests wait already"),
  /** It would have to wait, but as many prompt tokens wait as may. */
  RAW_ISL_TOKEN_LIMIT("maxQueuedTokens prompt tokens wait already"),
  /** A request with its id is in flight or waits. */
  DUPLICATE_REQUEST("a request with this id is in flight or waits"),
  /** The selector failed while the request waited. */
  SELECTOR_FAILED("the selector failed");

  private final String text;

  Refusal(String text) {
    this.text = text;
  }

  /**
   * The refusal's name in metrics and JSON.
   *
   * @return for example {@code all_overloaded}
   */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The refusal in words.
   *
   * @return for example {@code all ranks that may serve it are overloaded}
   */
  public String text() {
    return text;
  }
}
