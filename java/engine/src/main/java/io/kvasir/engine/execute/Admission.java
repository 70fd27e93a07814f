package io.kvasir.engine.execute;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.ProbeBatch;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Iterator;
import java.util.function.Consumer;

/**
 * Second half of scheduling a step: waiting requests start, first come, first served.
 *
 * <p>Each is looked up in the pool to learn what it need not compute, gets its first chunk from the
 * token budget, and asks for the blocks of match and chunk; under GUARANTEED_NO_EVICT the blocks up
 * to its end are reserved besides. All ask in one batch. The first that is refused keeps its place,
 * and nobody overtakes it. If a lease finds less than the look-up did, because names collided, the
 * chunk starts earlier and is no longer. While the pool answers a batch it holds on to the matches
 * of all, also of those that it then refuses, so the first refused request may have lacked only
 * what those behind it matched; it asks once more, alone, in the next step, or in this one if
 * nothing else is in it.
 *
 * <p><b>Retry.</b> A refused head asks again only after something is likely to have changed the
 * answer: blocks were released on this rank, a prefill chunk was named on this rank, another
 * request is the head, or nothing runs and nothing is being sent on this rank. (A block that
 * decoding filled may be one that is there already, which frees one; the head hears of that with
 * the next release.) In the last case everything the pool has is available, and a request that fits
 * the pool is admitted, so nobody starves.
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

  /** The requests of {@link #batch}, their first chunks and the lengths of their block tables. */
  private PlacedRequest[] asking = new PlacedRequest[8];

  private int[] chunks = new int[8];
  private int[] leasedBlocks = new int[8];

  private PlacedRequest refused;

  /** Whether the head asks alone next time. */
  private boolean alone;

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

  /** How many would ask for blocks in a step with a budget; none while the head is refused. */
  int willing() {
    boolean blocked = waiting.peekFirst() == refused && !started.isEmpty();
    return blocked ? 0 : waiting.size();
  }

  /** The requests that wait for their first blocks, in order; not to be changed. */
  Iterable<PlacedRequest> waiting() {
    return waiting;
  }

  void add(PlacedRequest request) {
    waiting.addLast(request);
    queueBlocks(request);
  }

  /** Puts a request without its blocks back in front of those that came after it. */
  void pause(PlacedRequest request, long nowNs) {
    request.pause();
    waiting.addFirst(request);
    queueBlocks(request);
    listener.onPaused(request.request, rank, nowNs);
  }

  /** Gives a request's blocks back to the pool. */
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

  /** Books what a waiting request needs, so that routers do not promise it to others. */
  private void queueBlocks(PlacedRequest request) {
    request.queuedBlocks =
        reserve ? request.totalBlocks : ChunkRule.blocks(request.length, tokensPerBlock);
    ledger.queueBlocks(request.queuedBlocks);
  }

  private void unqueueBlocks(PlacedRequest request) {
    ledger.queueBlocks(-request.queuedBlocks);
    request.queuedBlocks = 0;
  }

  /** Blocks were released or named: a refused head may ask again. */
  void allowRetry() {
    refused = null;
  }

  /**
   * Starts whom budget and blocks allow, and adds their first chunks to the plan.
   *
   * @param leasing leases the batch it is given
   */
  void plan(
      StepPlan plan, int budget, boolean anyPrefill, Consumer<LeaseBatch> leasing, long nowNs) {
    PlacedRequest head = waiting.peekFirst();
    if (budget == 0 || head == null || (head == refused && !poolIsIdle())) {
      return;
    }
    ask(budget, !anyPrefill, alone ? 1 : Integer.MAX_VALUE);
    int asked = batch.size();
    int admitted = lease(plan, leasing, nowNs);
    alone = admitted < asked - 1;
    if (alone) {
      refused = null;
      if (plan.size() == 0) {
        plan(plan, budget, anyPrefill, leasing, nowNs);
      }
    }
  }

  /** Whether the pool is all for those who wait. */
  private boolean poolIsIdle() {
    return started.isEmpty() && sending.isEmpty();
  }

  /** Fills the batch from the head of the line. */
  private void ask(int budget, boolean noPrefillYet, int maxRequests) {
    batch.clear();
    int left = budget;
    boolean first = noPrefillYet;
    Iterator<PlacedRequest> line = waiting.iterator();
    while (left > 0 && line.hasNext() && batch.size() < maxRequests) {
      PlacedRequest request = line.next();
      int matched = matchedBlocks(request);
      int from = matched * tokensPerBlock;
      int chunk = ChunkRule.chunk(from, request.length, left, first, tokensPerBlock);
      if (chunk == 0) {
        return;
      }
      int blocks = ChunkRule.blocks(from + chunk, tokensPerBlock);
      int i =
          batch.add(
              request.tokens,
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

  /** Leases the batch and starts who was admitted; how many they are. */
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
