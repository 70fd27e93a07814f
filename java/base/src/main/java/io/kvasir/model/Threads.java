package io.kvasir.model;

/** Waits for threads. Stateless. */
public final class Threads {

  private Threads() {}

  /**
   * Waits until a thread has ended. An interrupt of the caller does not end the wait, and is set
   * again afterwards.
   *
   * @param thread a thread that is about to end, or was never started
   */
  public static void join(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits until a thread has ended, for a time at most. An interrupt of the caller ends the wait,
   * and is set again.
   *
   * @param thread a thread that is about to end, or was never started
   * @param millis the time in milliseconds, at least 1
   * @return whether it has ended
   */
  public static boolean join(Thread thread, long millis) {
    try {
      thread.join(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return !thread.isAlive();
  }
}
