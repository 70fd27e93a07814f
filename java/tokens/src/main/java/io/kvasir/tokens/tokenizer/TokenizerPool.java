package io.kvasir.tokens.tokenizer;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A few threads for tokenizers, with a bounded queue. Thread-safe; no method but {@link #close}
 * blocks.
 */
public final class TokenizerPool implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(TokenizerPool.class);
  private static final int CLOSE_SECONDS = 10;

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

  /** Refuses new work, drops what waits, and waits a while for what runs. Idempotent. */
  @Override
  public void close() {
    threads.shutdownNow();
    try {
      if (!threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("tokens are still made after {} s", CLOSE_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
