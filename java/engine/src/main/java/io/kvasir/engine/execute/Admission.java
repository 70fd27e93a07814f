package io.kvasir.engine.execute;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.ProbeBatch;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Second half of scheduling a step: starts waiting requests, first come, first served.
 *
 * <p>Each request is matched in the pool, gets its first chunk from the token budget, and requests
 * the blocks of match and chunk. Under GUARANTEED_NO_EVICT it also reserves the blocks up to its
 * end. All requests lease in one batch. The first one refused keeps its position, and no request
 * overtakes it. If a lease matches less than the look-up did, because sequence hashes collided, the
 * chunk starts earlier and does not get longer. While the pool leases a batch, it pins the matches
 * of all requests in it, including those it then refuses. The first refused request may thus fail
 * only because of blocks that requests behind it matched. It therefore retries alone: in the next
 * step, or in this one if the step is otherwise empty.
 *
 * <p><b>Retry.</b> A refused head retries only after an event that is likely to change the result:
 * blocks were released on this rank, a prefill chunk was committed on this rank, another request is
 * the head, or nothing runs and nothing is being sent on this rank. In the last case the whole pool
 * is available, and a request that fits the pool is admitted, so no request starves. (Committing a
 * decoded block can also free a block, if an equal one is in the pool already. That alone does not
 * trigger a retry; the next release does.)
 *
 * <p>Confined to the rank's executor thread.
 */
final class Admission {

  private final int rank;
  private final BlockPool pool;
  private final int tokensPerBlock;
  private final StartedRequests started;
  private final SendingRequests sending;
  private final RankLedger ledger;
  private final RequestListener listener;
  private final boolean reserve;
  private final boolean reuse;

  private final ArrayDeque<PlacedRequest> waiting = new ArrayDeque<>();
  private final ProbeBatch probe = new ProbeBatch();
  private final int[] probed = new int[1];
  private final int[] oneLease = new int[1];
  private final LeaseBatch batch = new LeaseBatch();

  /**
   * For each entry of {@link #batch}: the request, its first chunk and the length of its block
   * table.
   */
  private PlacedRequest[] asking = new PlacedRequest[8];

  private int[] chunks = new int[8];
  private int[] leasedBlocks = new int[8];

  private @Nullable PlacedRequest refused;

  /** Whether the next batch has only the head. */
  private boolean headOnly;

  Admission(
      int rank,
      BlockPool pool,
      StartedRequests started,
      SendingRequests sending,
      RankLedger ledger,
      RequestListener listener,
      ExecutorOptions options) {
    this.rank = rank;
    this.pool = pool;
    this.tokensPerBlock = pool.shape().tokensPerBlock();
    this.started = started;
    this.sending = sending;
    this.ledger = ledger;
    this.listener = listener;
    this.reserve = options.capacityPolicy() == CapacityPolicy.GUARANTEED_NO_EVICT;
    this.reuse = options.enableBlockReuse();
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /**
   * The number of requests that would try to start in a step with a budget; 0 while the head is
   * refused.
   */
  int readyToStart() {
    boolean blocked = waiting.peekFirst() == refused && !started.isEmpty();
    return blocked ? 0 : waiting.size();
  }

  /** The requests that wait for their first blocks, in order; read-only. */
  Iterable<PlacedRequest> waiting() {
    return waiting;
  }

  void add(PlacedRequest request) {
    waiting.addLast(request);
    queueBlocks(request);
  }

  /** Returns a paused request, which has no blocks any more, to the front of the queue. */
  void pause(PlacedRequest request, long nowNs) {
    request.pause();
    waiting.addFirst(request);
    queueBlocks(request);
    listener.onPaused(request.request, rank, nowNs);
  }

  /** Releases a request's blocks. */
  void release(PlacedRequest request) {
    oneLease[0] = request.lease;
    pool.release(oneLease, 1);
    allowRetry();
  }

  void remove(PlacedRequest request) {
    waiting.remove(request);
    unqueueBlocks(request);
    if (refused == request) {
      refused = null;
    }
  }

  void clear() {
    waiting.forEach(this::unqueueBlocks);
    waiting.clear();
    refused = null;
  }

  /**
   * Books the blocks that a waiting request needs, so that routers do not count on them for other
   * requests.
   */
  private void queueBlocks(PlacedRequest request) {
    request.queuedBlocks =
        reserve ? request.totalBlocks : ChunkRule.blocks(request.length, tokensPerBlock);
    ledger.queueBlocks(request.queuedBlocks);
  }

  private void unqueueBlocks(PlacedRequest request) {
    ledger.queueBlocks(-request.queuedBlocks);
    request.queuedBlocks = 0;
  }

  /** Lets a refused head retry, because blocks were released or committed. */
  void allowRetry() {
    refused = null;
  }

  /**
   * Starts the requests that budget and blocks allow, and adds their first chunks to the plan.
   *
   * @param leasing leases the batch it is given
   */
  void plan(
      StepPlan plan, int budget, boolean anyPrefill, Consumer<LeaseBatch> leasing, long nowNs) {
    PlacedRequest head = waiting.peekFirst();
    if (budget == 0 || head == null || (head == refused && !poolIsIdle())) {
      return;
    }
    fillBatch(budget, !anyPrefill, headOnly ? 1 : Integer.MAX_VALUE);
    int asked = batch.size();
    int admitted = lease(plan, leasing, nowNs);
    headOnly = admitted < asked - 1;
    if (headOnly) {
      refused = null;
      if (plan.size() == 0) {
        plan(plan, budget, anyPrefill, leasing, nowNs);
      }
    }
  }

  /** Whether the whole pool is available to waiting requests. */
  private boolean poolIsIdle() {
    return started.isEmpty() && sending.isEmpty();
  }

  /** Fills the batch from the head of the queue. */
  private void fillBatch(int budget, boolean noPrefillYet, int maxRequests) {
    batch.clear();
    int left = budget;
    boolean first = noPrefillYet;
    Iterator<PlacedRequest> queue = waiting.iterator();
    while (left > 0 && queue.hasNext() && batch.size() < maxRequests) {
      PlacedRequest request = queue.next();
      int matched = matchedBlocks(request);
      int from = matched * tokensPerBlock;
      int chunk = ChunkRule.chunk(from, request.length, left, first, tokensPerBlock);
      if (chunk == 0) {
        return;
      }
      int blocks = ChunkRule.blocks(from + chunk, tokensPerBlock);
      int i =
          batch.add(
              request.tokens(),
              request.sequenceHashes,
              request.scope(),
              matched,
              blocks,
              reserve ? request.totalBlocks - blocks : 0);
      remember(i, request, chunk, blocks);
      first = false;
      left = from + chunk < request.length ? 0 : left - chunk;
    }
  }

  /** Leases the batch and starts the admitted requests; returns their number. */
  private int lease(StepPlan plan, Consumer<LeaseBatch> leasing, long nowNs) {
    int asked = batch.size();
    if (asked == 0) {
      return 0;
    }
    leasing.accept(batch);
    int admitted = 0;
    while (admitted < asked && batch.lease(admitted) != LeaseBatch.REFUSED) {
      start(plan, admitted++);
    }
    refused = admitted < asked ? asking[admitted] : null;
    for (int i = 0; i < admitted; i++) {
      PlacedRequest placed = asking[i];
      listener.onStarted(placed.request, rank, placed.cachedTokens, placed.starts > 1, nowNs);
    }
    Arrays.fill(asking, 0, asked, null);
    return admitted;
  }

  private int matchedBlocks(PlacedRequest request) {
    int matchable = (request.length - 1) / tokensPerBlock;
    if (!reuse || matchable == 0) {
      return 0;
    }
    probe.clear();
    probe.add(request.sequenceHashes, matchable);
    pool.probe(probe, probed, 0);
    return probed[0];
  }

  private void remember(int i, PlacedRequest request, int chunk, int blocks) {
    if (i == asking.length) {
      asking = Arrays.copyOf(asking, i * 2);
      chunks = Arrays.copyOf(chunks, i * 2);
      leasedBlocks = Arrays.copyOf(leasedBlocks, i * 2);
    }
    asking[i] = request;
    chunks[i] = chunk;
    leasedBlocks[i] = blocks;
  }

  private void start(StepPlan plan, int i) {
    PlacedRequest placed = waiting.removeFirst();
    unqueueBlocks(placed);
    placed.start(batch.lease(i), batch.matchedBlocks(i), leasedBlocks[i], tokensPerBlock);
    started.add(placed);
    int cached = Math.min(placed.computed, placed.promptTokens);
    ledger.setCached(placed.cachedTokens, cached);
    placed.cachedTokens = cached;
    plan.add(
        placed, ChunkRule.chunk(placed.computed, placed.length, chunks[i], true, tokensPerBlock));
  }
}
