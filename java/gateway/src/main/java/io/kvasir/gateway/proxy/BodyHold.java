package io.kvasir.gateway.proxy;

/**
 * What one request holds of the {@link BodyBudget}. What a thread works on is returned only when
 * that thread is done, even if the request is over before.
 *
 * <p>Thread-safe.
 */
final class BodyHold {

  private static final int BUDGET_RETRY_SECONDS = 1;

  private final BodyBudget budget;
  private final String client;
  private long bytes;
  private boolean uploads;
  private int pins;
  private boolean released;

  BodyHold(BodyBudget budget, String client) {
    this.budget = budget;
    this.client = client;
  }

  /** Takes bytes; false if there are not as many left, or the request is over. */
  synchronized boolean take(long more) {
    if (released || !budget.take(client, more)) {
      return false;
    }
    bytes += more;
    return true;
  }

  /** The reply to a request that cannot take as many more bytes: now, or ever. */
  synchronized Problem refusal(long more) {
    long most = budget.mostOfOne();
    return bytes + more <= most
        ? noRoom()
        : Problem.of(
            413,
            "body_too_large",
            "the body and what is decoded of it must not exceed " + most + " bytes together");
  }

  /** The reply to a request for which the budget has no room now. */
  static Problem noRoom() {
    return Problem.overloaded(
        503,
        "body_budget_exhausted",
        "the gateway holds as many bytes of requests as it may, for all clients or for this one",
        BUDGET_RETRY_SECONDS);
  }

  /** Returns some of the bytes. */
  synchronized void give(long less) {
    if (!released || pins > 0) {
      bytes -= less;
      budget.release(client, less);
    }
  }

  /** Takes a place in service for a body that is still arriving. */
  synchronized boolean takeUpload() {
    if (!released && !uploads && budget.takeUpload(client)) {
      uploads = true;
    }
    return uploads;
  }

  /** The body has arrived; it needs no such place any more. */
  synchronized void endUpload() {
    if (uploads) {
      uploads = false;
      budget.releaseUpload(client);
    }
  }

  /** A thread begins to work on the bytes. */
  synchronized void pin() {
    pins++;
  }

  /** A thread is done with the bytes. */
  synchronized void unpin() {
    pins--;
    giveAll();
  }

  /** The request is over. Repeated calls have no effect. */
  synchronized void release() {
    released = true;
    endUpload();
    giveAll();
  }

  private void giveAll() {
    if (released && pins == 0) {
      budget.release(client, bytes);
      bytes = 0;
    }
  }

  /** Whether the request is over. */
  synchronized boolean released() {
    return released;
  }
}
