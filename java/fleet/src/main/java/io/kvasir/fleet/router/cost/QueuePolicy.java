package io.kvasir.fleet.router.cost;

import io.kvasir.model.Choice;
import java.util.Locale;

/** Who goes first among waiting requests of one strict priority. */
public enum QueuePolicy {
  /** Who came first; a priority jump puts it forward by as many seconds. */
  FCFS,
  /**
   * Who has the most weight for its work: (1 + priority jump) / prompt tokens that no eligible rank
   * holds. Smith's rule of the weighted shortest processing time.
   */
  WSPT;

  /**
   * Finds a policy by name.
   *
   * @param id its name, for example {@code fcfs}
   * @return the policy
   * @throws IllegalArgumentException listing the names there are, if this is none of them
   */
  public static QueuePolicy named(String id) {
    return Choice.named("queuePolicy", values(), QueuePolicy::id, id);
  }

  /**
   * The policy's name.
   *
   * @return for example {@code fcfs}
   */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * A waiting request's key; the highest goes first.
   *
   * @param priorityJump see {@link SelectionRequest#priorityJump()}
   * @param arrivalSeconds when it came, on any clock
   * @param uncachedTokens prompt tokens that must be computed wherever it goes
   */
  double key(double priorityJump, double arrivalSeconds, long uncachedTokens) {
    return switch (this) {
      case FCFS -> priorityJump - arrivalSeconds;
      case WSPT -> (1 + priorityJump) / Math.max(1, uncachedTokens);
    };
  }
}
