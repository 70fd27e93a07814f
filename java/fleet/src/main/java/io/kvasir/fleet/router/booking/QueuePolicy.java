package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.model.Choice;
import java.util.Locale;

/** Which request goes first among waiting requests of one strict priority. */
public enum QueuePolicy {
  /** First come, first served; a priority jump moves a request forward by that many seconds. */
  FCFS,
  /**
   * Weighted shortest processing time (Smith's rule): the highest (1 + priority jump) / (prompt
   * tokens that no eligible rank holds) goes first.
   */
  WSPT,
  /**
   * Earliest deadline first, where a request's deadline is its arrival and its target for the first
   * token; requests that have none, or will miss it, go behind.
   */
  EDF;

  /**
   * Finds a policy by name.
   *
   * @param id its name, for example {@code fcfs}
   * @return the policy
   * @throws IllegalArgumentException listing the known names, if this is none of them
   */
  public static QueuePolicy named(String id) {
    return Choice.named("queuePolicy", values(), QueuePolicy::id, id);
  }

  /** {@return the policy's name, for example {@code fcfs}} */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * A waiting request's key; the highest goes first.
   *
   * @param priorityJump see {@link FleetRequest#priorityJump()}
   * @param arrivalSeconds its arrival, on any clock
   * @param uncachedTokens prompt tokens that no eligible rank holds
   * @param targetSeconds the target for its first token
   */
  double key(
      double priorityJump, double arrivalSeconds, long uncachedTokens, double targetSeconds) {
    return switch (this) {
      case FCFS -> priorityJump - arrivalSeconds;
      case WSPT -> (1 + priorityJump) / Math.max(1, uncachedTokens);
      case EDF -> -(arrivalSeconds + targetSeconds);
    };
  }
}
