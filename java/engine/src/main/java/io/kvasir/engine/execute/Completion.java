package io.kvasir.engine.execute;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.hash.BlockHasher;
import java.util.Arrays;

/**
 * Applies the results of a step: appends tokens, hashes full blocks and commits them in one batch,
 * and releases the blocks of finished requests in one call, unless their KV has to be sent first.
 *
 * <p>Confined to the rank's executor thread.
 */
final class Completion {

  private final int rank;
  private final BlockPool pool;
  private final BlockHasher hasher;
  private final int tokensPerBlock;
  private final boolean reuse;
  private final StartedRequests started;
  private final Admission admission;
  private final boolean sends;
  private final RequestListener listener;
  private final CommitBatch commits = new CommitBatch();

  /** Output buffer for the hasher's local hashes, which are not used here. */
  private long[] localHashes = new long[64];

  private PlacedRequest[] done = new PlacedRequest[16];
  private int[] doneLeases = new int[16];
  private int doneCount;

  Completion(
      int rank,
      BlockPool pool,
      BlockHasher hasher,
      boolean reuse,
      StartedRequests started,
      Admission admission,
      boolean sends,
      RequestListener listener) {
    this.rank = rank;
    this.pool = pool;
    this.hasher = hasher;
    this.tokensPerBlock = pool.shape().tokensPerBlock();
    this.reuse = reuse;
    this.started = started;
    this.admission = admission;
    this.sends = sends;
    this.listener = listener;
  }

  /** Applies a step's results to its requests and their blocks, and reports the new tokens. */
  void apply(StepPlan plan, long endNs) {
    doneCount = 0;
    for (int i = 0; i < plan.size(); i++) {
      PlacedRequest request = plan.request(i);
      request.computed += plan.newTokens(i);
      if (request.computed >= request.nextCommitAt && reuse) {
        commitFullBlocks(request);
      }
      if (request.computed == request.length) {
        append(request, plan.output(i), endNs);
      }
    }
    if (commits.size() > 0) {
      pool.commit(commits);
      commits.clear();
    }
    if (doneCount > 0) {
      if (!sends) {
        pool.release(doneLeases, doneCount);
        admission.allowRetry();
      }
      started.removeDone();
    }
  }

  /** The number of requests that the last step finished. */
  int doneCount() {
    return doneCount;
  }

  /** Returns one of them and drops the reference to it. */
  PlacedRequest takeDone(int i) {
    PlacedRequest taken = done[i];
    done[i] = null;
    return taken;
  }

  private void append(PlacedRequest request, int token, long endNs) {
    if (!request.decoding) {
      started.startDecoding(request);
    }
    int index = request.outputs();
    request.append(token);
    listener.onToken(request.request, rank, index, token, endNs);
    if (request.done()) {
      if (doneCount == done.length) {
        done = Arrays.copyOf(done, doneCount * 2);
        doneLeases = Arrays.copyOf(doneLeases, doneCount * 2);
      }
      done[doneCount] = request;
      doneLeases[doneCount++] = request.lease;
    }
  }

  /**
   * Adds the request's newly full blocks to the commit batch. Blocks of generated tokens are hashed
   * first.
   */
  private void commitFullBlocks(PlacedRequest request) {
    int full = request.computed / tokensPerBlock;
    if (full > request.hashedBlocks) {
      if (localHashes.length < full) {
        localHashes = new long[Math.max(full, localHashes.length * 2)];
      }
      hasher.hashBlocks(
          request.scope(),
          request.tokens(),
          request.hashedBlocks,
          full,
          localHashes,
          request.sequenceHashes);
      request.hashedBlocks = full;
    }
    int from = request.committedBlocks;
    commits.add(request.lease, request.tokens(), request.sequenceHashes, from, full);
    listener.onCommitted(
        request.request, rank, request.tokens(), request.sequenceHashes, from, full);
    request.committedBlocks = full;
    request.nextCommitAt = (full + 1) * tokensPerBlock;
    if (!request.decoding) {
      admission.allowRetry();
    }
  }
}
