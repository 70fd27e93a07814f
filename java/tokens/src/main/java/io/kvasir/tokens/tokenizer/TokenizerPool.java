package io.kvasir.tokens.tokenizer;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A few threads for tokenizers, with a bounded queue. Thread-safe; no method but {@link #close}
 * blocks.
 */
public final class TokenizerPool implements AutoCloseable {

  private final ThreadPoolExecutor threads;

  /**
   * Starts no thread before the first work.
   *
   * @param threads how many works run at a time, at least 1
   * @param maxQueued how many may wait, at least 1
   */
  public TokenizerPool(int threads, int maxQueued) {
    this.threads =
        new ThreadPoolExecutor(
            threads,
            threads,
            0,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(maxQueued),
            TokenizerPool::daemon);
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "kvasir-tokenizer");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Runs work on a thread of the pool.
   *
   * @param work the work, which throws nothing
   * @return false if the queue is full or the pool is closed; the work does not run
   */
  public boolean tryRun(Runnable work) {
    try {
      threads.execute(work);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** Refuses new work, and waits until what is in the queue is done. Idempotent. */
  @Override
  public void close() {
    threads.shutdown();
    boolean interrupted = false;
    while (true) {
      try {
        if (threads.awaitTermination(1, TimeUnit.DAYS)) {
          break;
        }
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
