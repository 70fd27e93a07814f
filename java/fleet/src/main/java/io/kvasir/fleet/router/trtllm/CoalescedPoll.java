package io.kvasir.fleet.router.trtllm;

import java.util.concurrent.Executor;

/**
 * Runs one task in the background whenever it is asked for, but never twice at once: requests that
 * come before it starts are one, and those that come while it runs are one more run afterwards.
 *
 * <p>Thread-safe.
 */
final class CoalescedPoll {

  private final Executor executor;
  private final Runnable task;
  private boolean scheduled;
  private boolean running;
  private boolean again;
  private boolean cancelled;

  CoalescedPoll(Executor executor, Runnable task) {
    this.executor = executor;
    this.task = task;
  }

  /** Asks for a run that starts after this call. */
  void request() {
    synchronized (this) {
      if (cancelled || scheduled) {
        return;
      }
      if (running) {
        again = true;
        return;
      }
      scheduled = true;
    }
    execute();
  }

  /** Drops what has not started, for good. A run in progress is not interrupted. */
  synchronized void cancel() {
    cancelled = true;
    again = false;
  }

  /** Whether a run is due. */
  synchronized boolean pending() {
    return !cancelled && (scheduled || again);
  }

  private void execute() {
    try {
      executor.execute(this::run);
    } catch (RuntimeException e) {
      synchronized (this) {
        scheduled = false;
      }
      throw e;
    }
  }

  private void run() {
    synchronized (this) {
      scheduled = false;
      if (cancelled) {
        return;
      }
      running = true;
    }
    try {
      task.run();
    } finally {
      if (ended()) {
        execute();
      }
    }
  }

  private synchronized boolean ended() {
    running = false;
    scheduled = again;
    again = false;
    return scheduled;
  }
}
