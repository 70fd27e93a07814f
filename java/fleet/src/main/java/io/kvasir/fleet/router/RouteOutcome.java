package io.kvasir.fleet.router;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/** What {@link FleetRouter#route} answers. Immutable, except that a wait ends. */
public sealed interface RouteOutcome {

  /**
   * A rank was chosen and the request is booked there.
   *
   * @param placement the choice and its reasons
   */
  record Placed(Placement placement) implements RouteOutcome {

    /** Refuses null. */
    public Placed {
      Objects.requireNonNull(placement, "placement");
    }
  }

  /**
   * The request waits for room.
   *
   * @param outcome completes once, with {@link Placed} or {@link Refused}; cancelling it takes the
   *     request out of the queue. Its listeners run on the thread whose call made room, without the
   *     router's lock; they should be quick
   */
  record Waiting(CompletableFuture<RouteOutcome> outcome) implements RouteOutcome {}

  /**
   * No rank serves the request, and nothing is booked.
   *
   * @param refusal why
   * @param message the refusal in words, with what it depends on
   */
  record Refused(Refusal refusal, String message) implements RouteOutcome {

    /**
     * A refusal in its own words.
     *
     * @param refusal why
     */
    public Refused(Refusal refusal) {
      this(refusal, refusal.text());
    }
  }
}
