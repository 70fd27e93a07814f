package io.kvasir.gateway.proxy;

/**
 * A wait for another thread or for an engine; running it cancels it.
 *
 * <p>Confined to the request's event loop.
 */
final class Wait implements Runnable {

  private boolean cancelled;

  @Override
  public void run() {
    cancelled = true;
  }

  /** Whether what was waited for must have no effect. */
  boolean isCancelled() {
    return cancelled;
  }
}
