package io.kvasir.rank;

/**
 * One attempt to serve a request on a rank, as {@link ActiveSequences} book it. Not thread-safe.
 */
final class Booking {

  final long attempt;
  final long requestId;

  /** The rank's slot in {@link LoadedRanks}. */
  final int rank;

  /** Where the named blocks end. */
  SequenceRun end;

  /** Blocks without a name: the partial last one, and what streamed out. Nobody shares them. */
  int ownBlocks;

  /** Tokens for which there is still room in the last block. */
  int room;

  /** Prompt tokens still to be computed. */
  int prefillTokens;

  /** Whether there was a sign of life since the last look for stale requests. */
  boolean touched;

  /** When the last look found a sign of life. */
  long aliveNs;

  Booking(long attempt, long requestId, int rank, long nowNs) {
    this.attempt = attempt;
    this.requestId = requestId;
    this.rank = rank;
    this.aliveNs = nowNs;
  }
}
