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
}
