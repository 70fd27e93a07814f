package io.kvasir.fleet.load;

import java.util.Arrays;

/**
 * One attempt to serve a request on a rank, as {@link ActiveSequences} book it. Not thread-safe.
 */
final class Booking {

  private static final long THOUSAND = 1000;

  final long attempt;

  /** Without meaning for a request that another router has placed. */
  final long requestId;

  final boolean foreign;

  /** The rank's slot in {@link LoadedRanks}. */
  final int rank;

  /** Tokens of the prompt. */
  int inputTokens;

  /** Blocks of the prompt that have a name; they are the first ones before {@link #end}. */
  int promptBlocks;

  /** Where the named blocks end. */
  SequenceRun end;

  /**
   * Blocks without a name: the partial last one, and those of the answer. They are never shared.
   */
  int ownBlocks;

  /** Tokens for which there is still room in the last block. */
  int room;

  /** Prompt tokens still to be computed. */
  int prefillTokens;

  /** Tokens that will probably stream out, or 0. */
  int expectedTokens;

  /** Tokens that have. */
  long outputTokens;

  /** Thousandths of blocks by which the rank's load is discounted. */
  private long discount;

  /** Whether there was a sign of life since the last look for stale requests. */
  boolean touched;

  /** When the last look found a sign of life. */
  long aliveNs;

  Booking(long attempt, boolean foreign, long requestId, int rank, SequenceRun end, long nowNs) {
    this.attempt = attempt;
    this.foreign = foreign;
    this.requestId = requestId;
    this.rank = rank;
    this.end = end;
    this.aliveNs = nowNs;
  }

  /** What the request has brought, and what is left of its prefill. O(blocks). */
  SequenceLoad load() {
    return new SequenceLoad(
        Arrays.copyOf(end.hashes, promptBlocks),
        promptBlocks,
        inputTokens,
        prefillTokens,
        expectedTokens);
  }

  /**
   * Discounts blocks of this request alone by the part of the output that has streamed out; returns
   * the growth of the discount.
   */
  long discount(long exclusiveBlocks) {
    long before = discount;
    discount =
        exclusiveBlocks == 0
            ? 0
            : exclusiveBlocks * Math.min(THOUSAND, outputTokens * THOUSAND / expectedTokens);
    return discount - before;
  }
}
