package io.kvasir.exchange;

import java.util.concurrent.Executor;

/** A thread that handles the events of many exchanges. Thread-safe. */
public interface EventLoop extends Executor {

  /** A planned action. Confined to the event loop. */
  @FunctionalInterface
  interface Timer {

    /** Cancels the action. No effect once it has run. */
    void cancel();
  }

  /**
   * Runs an action later, on this loop.
   *
   * @param delayMs the delay, in milliseconds, at least 1
   * @param action the action
   * @return the planned action
   */
  Timer after(long delayMs, Runnable action);
}
