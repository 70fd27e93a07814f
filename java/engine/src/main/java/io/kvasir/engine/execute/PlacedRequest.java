package io.kvasir.engine.execute;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Request;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A request of a worker and its progress: the sequence so far and, once it is placed, the computed
 * part and the leased blocks.
 *
 * <p>On a rank it <i>waits</i> (no lease), then <i>prefills</i> until the whole sequence known at
 * its start is computed, then <i>decodes</i>: one token's KV and one new token per step. A pause
 * returns it to waiting; prompt and outputs so far become the sequence to prefill. The retirement
 * of its rank does the same, and another rank continues the request. On a context rank it is
 * <i>sending</i> from its first token until its KV has been sent. Invariant: {@code computed <
 * length}, both at most {@code endLength}; the last token's KV is never computed.
 *
 * <p>Confined to the thread that drives loop and rank; the stages of a step write the fields.
 */
final class PlacedRequest {

  static final int NO_LEASE = -1;

  final HashedRequest hashed;
  final Request request;

  /** Its position in the arrival order of the worker's requests. */
  final long arrival;

  final int promptTokens;

  /** The most tokens of prompt and output together, as the request asks for them. */
  final int endLength;

  /** Tokens of both when the request is done, at most {@link #endLength}. */
  private final int answerEnd;

  /** Blocks that hold the most computed tokens, including a partial one. */
  final int totalBlocks;

  /** Full blocks of the most computed tokens. */
  private final int mostFullBlocks;

  /** The sequence; null until it is needed, so that waiting requests keep no tokens. */
  private int @Nullable [] tokens;

  /** Sequence hashes of its full blocks; {@link #hashedBlocks} of them are known. */
  long[] sequenceHashes;

  int hashedBlocks;

  /** Tokens known: the prompt and the outputs so far. */
  int length;

  /** Tokens whose KV is in the pool. */
  int computed;

  boolean decoding;

  /** How often it has started, on any rank. */
  int starts;

  int lease = NO_LEASE;

  /** Tokens that the leased blocks have room for. */
  int leasedTokens;

  int committedBlocks;

  /** Number of computed tokens at which the next block is full and can be committed. */
  int nextCommitAt;

  /** Prompt tokens booked as cached in the rank's ledger. */
  int cachedTokens;

  /** Blocks booked as queued in the rank's ledger. */
  int queuedBlocks;

  /** Leading tokens expected to be cached on its rank when it starts, estimated at placement. */
  int expectedTokens;

  /** Whether its KV is being sent. */
  boolean sending;

  /** The end of its transfer, once that is known. */
  long sentAtNs;

  PlacedRequest(HashedRequest hashed, int tokensPerBlock, long arrival) {
    this.hashed = hashed;
    this.arrival = arrival;
    this.request = hashed.request();
    this.promptTokens = request.promptTokens();
    this.endLength = promptTokens + request.maxNewTokens();
    this.answerEnd = promptTokens + request.answerTokens();
    this.totalBlocks = ChunkRule.blocks(endLength - 1, tokensPerBlock);
    this.mostFullBlocks = (endLength - 1) / tokensPerBlock;
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

  /** The sequence, with room for all outputs: the array itself. */
  int[] tokens() {
    int[] known = tokens;
    if (known == null) {
      known = Arrays.copyOf(request.tokens(), endLength);
      tokens = known;
    }
    return known;
  }

  void append(int token) {
    tokens()[length++] = token;
  }

  int[] outputTokens() {
    return Arrays.copyOfRange(tokens(), promptTokens, length);
  }

  boolean done() {
    return length == answerEnd;
  }

  boolean started() {
    return lease != NO_LEASE;
  }

  /** The number of leading prompt blocks that this request has in common with another. */
  int commonBlocks(PlacedRequest other) {
    int most = Math.min(hashed.hashes().blocks(), other.hashed.hashes().blocks());
    long[] mine = hashed.hashes().sequence();
    long[] theirs = other.hashed.hashes().sequence();
    int common = 0; // a sequence hash covers all blocks before it, so binary search is exact
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

  /** Starts the request on leased blocks, the first of which hold computed KV already. */
  void start(int newLease, int matchedBlocks, int leasedBlocks, int tokensPerBlock) {
    countStart();
    lease = newLease;
    leasedTokens = leasedBlocks * tokensPerBlock;
    computed = matchedBlocks * tokensPerBlock;
    committedBlocks = matchedBlocks;
    nextCommitAt = computed + tokensPerBlock;
  }

  /** Records a start on a rank of another process. */
  void startElsewhere() {
    countStart();
  }

  private void countStart() {
    if (starts++ == 0) {
      sequenceHashes = Arrays.copyOf(sequenceHashes, mostFullBlocks);
    }
  }

  /** Resets the progress of a request without blocks; the sequence stays. */
  void pause() {
    lease = NO_LEASE;
    leasedTokens = 0;
    computed = 0;
    committedBlocks = 0;
    decoding = false;
  }

  /** Resets all progress and bookings, because the request's rank is retired. */
  void leaveRank() {
    pause();
    cachedTokens = 0;
    expectedTokens = 0;
  }

  /** Drops the output of a request whose KV cannot be sent; it starts from its prompt again. */
  void forgetOutput() {
    length = promptTokens;
  }

  @Override
  public String toString() {
    return request + ", " + computed + " of " + length + " computed, lease " + lease;
  }
}
