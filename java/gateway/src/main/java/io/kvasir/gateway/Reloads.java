package io.kvasir.gateway;

/**
 * How often the settings of a gateway were read again.
 *
 * <p>Thread-safe.
 */
public final class Reloads {

  private long all;
  private long failed;
  private boolean lastFailed;

  Reloads() {}

  /**
   * The settings were read again.
   *
   * @param success whether they had no error; otherwise they have changed nothing
   */
  public synchronized void onReload(boolean success) {
    all++;
    failed += success ? 0 : 1;
    lastFailed = !success;
  }

  synchronized long all() {
    return all;
  }

  synchronized long failed() {
    return failed;
  }

  synchronized boolean lastFailed() {
    return lastFailed;
  }
}
