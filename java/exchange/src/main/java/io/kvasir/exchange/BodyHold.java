package io.kvasir.exchange;

/**
 * What one request holds of the {@link BodyBudget}. Memory that a thread works on is returned only
 * when that thread is done, even if the request is over before.
 *
 * <p>Thread-safe.
 */
public final class BodyHold {

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

  /** {@return the client whose share it is of} */
  public String client() {
    return client;
  }

  /**
   * Takes bytes.
   *
   * @param more how many
   * @return false if there are not as many left, or the request is over
   */
  public synchronized boolean take(long more) {
    if (released || !budget.take(client, more)) {
      return false;
    }
    bytes += more;
    return true;
  }

  /**
   * Says why no more bytes could be taken.
   *
   * @param more the bytes
   * @return whether there is no room for them now, or never
   */
  public synchronized BodyFailure refusal(long more) {
    long most = budget.mostOfOne();
    return bytes + more <= most ? BodyFailure.noRoom() : BodyFailure.neverFits(most);
  }

  /**
   * Returns some of the bytes.
   *
   * @param less how many
   */
  public synchronized void give(long less) {
    if (!released || pins > 0) {
      bytes -= less;
      budget.release(client, less);
    }
  }

  /** {@return whether it has a place in service for a body that is still arriving; takes one} */
  public synchronized boolean takeUpload() {
    if (!released && !uploads && budget.takeUpload(client)) {
      uploads = true;
    }
    return uploads;
  }

  /** The body has arrived; it needs no such place any more. */
  public synchronized void endUpload() {
    if (uploads) {
      uploads = false;
      budget.releaseUpload(client);
    }
  }

  /** A thread begins to work on the bytes. */
  public synchronized void pin() {
    pins++;
  }

  /** A thread is done with the bytes. */
  public synchronized void unpin() {
    pins--;
    giveAll();
  }

  /** The request is over. Repeated calls have no effect. */
  public synchronized void release() {
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

  /** {@return whether the request is over} */
  public synchronized boolean released() {
    return released;
  }
}
