package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.router.Refusal;

/** What became of a request that was submitted. Immutable. */
public sealed interface SelectionOutcome {

  /**
   * A rank was chosen and booked.
   *
   * @param decision which, and why
   */
  record Dispatched(CostDecision decision) implements SelectionOutcome {}

  /**
   * No rank serves it; nothing was booked.
   *
   * @param request who was refused
   * @param reason why
   */
  record Refused(SelectionRequest request, Refusal reason) implements SelectionOutcome {

    /**
     * The refusal in words.
     *
     * @return who and why
     */
    public String message() {
      return request + ": " + reason.text();
    }
  }

  /**
   * It was cancelled while it waited; nothing was booked.
   *
   * @param request who was cancelled
   */
  record Cancelled(SelectionRequest request) implements SelectionOutcome {}
}
