package io.kvasir.tokens.tokenizer;

import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Encodes on a few threads of its own, with a bounded queue. Thread-safe; no method but {@link
 * #close} blocks.
 */
public final class TokenizerPool implements AutoCloseable {

  private final ModelTokenizer tokenizer;
  private final ThreadPoolExecutor threads;
  private final LongAdder encoded = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder refused = new LongAdder();

  /**
   * Starts no thread before the first text.
   *
   * @param tokenizer encodes; remains the caller's, who closes it after the pool
   * @param threads how many texts are encoded at a time, at least 1
   * @param maxQueued how many texts may wait, at least 1
   */
  public TokenizerPool(ModelTokenizer tokenizer, int threads, int maxQueued) {
    this.tokenizer = tokenizer;
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
   * What happened to texts so far.
   *
   * @param encoded texts with ids
   * @param failed texts that the tokenizer could not encode
   * @param refused texts that found the queue full or the pool closed
   */
  public record Counts(long encoded, long failed, long refused) {}

  /**
   * Encodes a text on a thread of the pool, unless the queue is full or the pool is closed.
   *
   * @param text the text
   * @param addSpecialTokens whether to add BOS and EOS
   * @return the ids, or a {@link TokenizerException}, in time, on a thread of the pool; empty if
   *     refused
   */
  public Optional<CompletableFuture<int[]>> tryEncode(String text, boolean addSpecialTokens) {
    CompletableFuture<int[]> ids = new CompletableFuture<>();
    try {
      threads.execute(() -> encode(text, addSpecialTokens, ids));
    } catch (RejectedExecutionException e) {
      refused.increment();
      return Optional.empty();
    }
    return Optional.of(ids);
  }

  private void encode(String text, boolean addSpecialTokens, CompletableFuture<int[]> ids) {
    int[] result;
    try {
      result = tokenizer.encode(text, addSpecialTokens);
    } catch (TokenizerException | RuntimeException | OutOfMemoryError e) {
      failed.increment();
      ids.completeExceptionally(e);
      return;
    }
    encoded.increment();
    ids.complete(result);
  }

  /** {@return what happened to texts so far} */
  public Counts counts() {
    return new Counts(encoded.sum(), failed.sum(), refused.sum());
  }

  /** Refuses new texts, and waits until those in the queue are encoded. Idempotent. */
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
