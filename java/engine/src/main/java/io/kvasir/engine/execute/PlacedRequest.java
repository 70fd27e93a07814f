package io.kvasir.engine.execute;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Request;
import java.util.Arrays;

/**
 * A request of a worker and how far it is: its sequence so far and, once it is placed, how much of
 * that is computed and the blocks it holds.
 *
 * <p>On a rank it <i>waits</i> (no lease), then <i>prefills</i> until the whole sequence known at
 * its start is computed, then <i>decodes</i>: one token's KV and one new token a step. A pause
 * takes it back to waiting with prompt and outputs so far as the sequence to prefill; so does the
 * loss of its rank, after which another rank goes on with it. On a context rank it is
 * <i>sending</i> from its first token until its KV has been sent. Invariant: {@code computed <
 * length}, both at most {@code endLength}; the last token's KV is never computed.
 *
 * <p>Confined to the thread that drives loop and rank; the stages of a step write the fields.
 */
final class PlacedRequest {

  static final int NO_LEASE = -1;

  final HashedRequest hashed;
  final Request request;

  /** Its place among the requests of the worker, in the order in which they came. */
  final long arrival;

  final int promptTokens;

  /** Tokens of prompt and output together when the request is done. */
  final int endLength;

  /** Blocks that its computed tokens fill in the end. */
  final int totalBlocks;

  /** Blocks that its computed tokens fill to the brim in the end. */
  private final int mostFullBlocks;

  /** The sequence; the caller's own array until the first start. */
  int[] tokens;

  /** Sequence hashes of its full blocks; {@link #hashedBlocks} of them are known. */
  long[] sequenceHashes;

  int hashedBlocks;

  /** Tokens known: the prompt and the outputs so far. */
  int length;

  /** Tokens whose KV is in the pool. */
  int computed;

  boolean decoding;

  /** How often it got blocks, here and elsewhere. */
  int starts;

  int lease = NO_LEASE;

  /** Tokens that the leased blocks have room for. */
  int leasedTokens;

  int committedBlocks;

  /** Computed tokens at which the next block is full and may be named. */
  int nextCommitAt;

  /** Prompt tokens booked as cached in the rank's ledger. */
  int cachedTokens;

  /** Blocks booked as queued in the rank's ledger. */
  int queuedBlocks;

  /** Leading tokens that its rank should hold when it starts, as far as the placement knew. */
  int expectedTokens;

  /** Whether it is done but its KV is not sent yet. */
  boolean sending;

  /** When its KV will have been sent, once that is known. */
  long sentAtNs;

  PlacedRequest(HashedRequest hashed, int tokensPerBlock, long arrival) {
    this.hashed = hashed;
    this.arrival = arrival;
    this.request = hashed.request();
    this.promptTokens = request.promptTokens();
    this.endLength = promptTokens + request.maxNewTokens();
    this.totalBlocks = ChunkRule.blocks(endLength - 1, tokensPerBlock);
    this.mostFullBlocks = (endLength - 1) / tokensPerBlock;
    this.tokens = request.tokens();
    this.sequenceHashes = hashed.hashes().sequence();
    this.hashedBlocks = hashed.hashes().blocks();
    this.length = promptTokens;
  }

  CacheScope scope() {
    return request.scope();
  }

  int outputs() {
    return length - promptTokens;
  }

  int[] outputTokens() {
    return Arrays.copyOfRange(tokens, promptTokens, length);
  }

  boolean done() {
    return length == endLength;
  }

  boolean started() {
    return lease != NO_LEASE;
  }

  /** How many leading blocks of the prompt another request of the same rank computes too. */
  int commonBlocks(PlacedRequest other) {
    int most = Math.min(hashed.hashes().blocks(), other.hashed.hashes().blocks());
    long[] mine = hashed.hashes().sequence();
    long[] theirs = other.hashed.hashes().sequence();
    int common = 0; // a block's name tells all blocks before it, so that bisection is exact
    while (common < most) {
      int middle = (common + most) >>> 1;
      if (mine[middle] == theirs[middle]) {
        common = middle + 1;
      } else {
        most = middle;
      }
    }
    return common;
  }

  /** The request got blocks, the first of which hold computed KV already. */
  void start(int newLease, int matchedBlocks, int leasedBlocks, int tokensPerBlock) {
    countStart();
    lease = newLease;
    leasedTokens = leasedBlocks * tokensPerBlock;
    computed = matchedBlocks * tokensPerBlock;
    committedBlocks = matchedBlocks;
    nextCommitAt = computed + tokensPerBlock;
  }

  /** The request starts on a rank of another process. */
  void startElsewhere() {
    countStart();
  }

  private void countStart() {
    if (starts++ == 0) {
      tokens = Arrays.copyOf(tokens, endLength);
      sequenceHashes = Arrays.copyOf(sequenceHashes, mostFullBlocks);
    }
  }

  /** The request lost its blocks; what it knows stays. */
  void pause() {
    lease = NO_LEASE;
    leasedTokens = 0;
    computed = 0;
    committedBlocks = 0;
    decoding = false;
  }

  /** The request's rank is lost: nothing of it is computed or booked anywhere any more. */
  void leaveRank() {
    pause();
    cachedTokens = 0;
    expectedTokens = 0;
  }

  /** What it has got is of no use, because its KV cannot be sent: it starts anew. */
  void forgetOutput() {
    length = promptTokens;
  }

  @Override
  public String toString() {
    return request + ", " + computed + " of " + length + " computed, lease " + lease;
  }
}
