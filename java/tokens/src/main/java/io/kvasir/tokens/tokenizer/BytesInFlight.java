package io.kvasir.tokens.tokenizer;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Bounds the UTF-8 bytes that are tokenized at a time: the native library takes some hundred bytes
 * of memory for each. Waiting calls go on in the order of their arrival. Thread-safe.
 */
final class BytesInFlight {

  /** The bound of all tokenizers of this process together. */
  static final BytesInFlight PROCESS = new BytesInFlight(ModelTokenizer.MAX_BYTES);

  /** The longest wait. */
  static final long MAX_WAIT_NS = TimeUnit.SECONDS.toNanos(1);

  private final int maxBytes;
  private final Semaphore free;

  /**
   * Makes a bound.
   *
   * @param maxBytes the largest sum
   */
  BytesInFlight(int maxBytes) {
    this.maxBytes = maxBytes;
    this.free = new Semaphore(maxBytes, true);
  }

  /**
   * Takes bytes. Blocks until they are free, at most {@link #MAX_WAIT_NS}.
   *
   * @param bytes how many, at most the bound; {@link #release} gives them back
   * @param waitNs the time that the caller has for it; none if negative
   * @throws TokenizerException if they were not free in time, or the thread is interrupted; nothing
   *     is taken
   */
  void acquire(int bytes, long waitNs) throws TokenizerException {
    if (bytes > maxBytes) {
      throw new TokenizerException(
          "a text of " + bytes + " bytes of UTF-8 exceeds the limit of " + maxBytes);
    }
    try {
      if (!free.tryAcquire(bytes, Math.min(waitNs, MAX_WAIT_NS), TimeUnit.NANOSECONDS)) {
        throw new TokenizerException(
            "other texts are tokenized: " + bytes + " bytes more would exceed " + maxBytes);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TokenizerException("was not tokenized: interrupted");
    }
  }

  /**
   * Gives bytes back.
   *
   * @param bytes as many as were taken
   */
  void release(int bytes) {
    free.release(bytes);
  }
}
