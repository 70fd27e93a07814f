package io.kvasir.gateway.disagg;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Numbers of transfers: 41 bits of milliseconds, 10 of the gateway's number, 12 of a counter, as in
 * TensorRT-LLM. So they are unique among gateways with different numbers, and at least 2^42, below
 * which engines count their own.
 *
 * <p>Thread-safe.
 */
public final class TransferIds {

  /** Most numbers that follow one another. */
  public static final int MOST = 1 << 12;

  private static final int NODE_SHIFT = 12;
  private static final int TIME_SHIFT = 22;

  private final long node;
  private final LongSupplier clockMs;

  /** Milliseconds and counter of the latest number, without the gateway's. */
  private final AtomicLong latest = new AtomicLong();

  /**
   * Begins.
   *
   * @param node the gateway's number, from 0
   * @param clockMs the time since 1970, in milliseconds
   */
  TransferIds(int node, LongSupplier clockMs) {
    this.node = node;
    this.clockMs = clockMs;
  }

  /**
   * The first of new numbers that follow one another. A clock that is set back repeats none.
   *
   * @param count how many, 1 to {@value #MOST}
   */
  long next(int count) {
    long now = clockMs.getAsLong() << NODE_SHIFT;
    long last =
        latest.updateAndGet(
            before -> {
              long first = Math.max(before + 1, now);
              boolean fits = (first & (MOST - 1)) + count <= MOST;
              return (fits ? first : (first | (MOST - 1)) + 1) + count - 1;
            });
    long next = last - count + 1;
    long time = next >> NODE_SHIFT;
    long counter = next & ((1L << NODE_SHIFT) - 1);
    return ((time << TIME_SHIFT) & Long.MAX_VALUE) | (node << NODE_SHIFT) | counter;
  }
}
