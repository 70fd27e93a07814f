package io.kvasir.engine.execute;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.LeaseBatch;
import java.util.Arrays;

/**
 * First half of scheduling a step: continues the started requests.
 *
 * <p>Requests are visited in start order. Decoding requests take one token each. Prefills continue
 * by chunks; a prefill that stays unfinished ends the step's prefill. Requests whose next tokens
 * need new blocks extend their leases, all in one batch.
 *
 * <p>Under GUARANTEED_NO_EVICT these blocks are reserved already. They are taken in the same call
 * as the leases of requests that start in the step, and after them, so that blocks matched by a
 * starting request are not evicted before it leases them.
 *
 * <p>Under MAX_UTILIZATION the first refused request is the cursor. The request that started last
 * is paused and the cursor retries, until it gets its blocks or is paused itself. The oldest
 * request could be paused only when it is alone, but then the pool cannot refuse it, so it always
 * completes.
 *
 * <p>Confined to the rank's executor thread.
 */
final class Growth {

  private final BlockPool pool;
  private final int tokensPerBlock;
  private final StartedRequests started;
  private final Admission admission;
  private final boolean reserved;
  private final ExtendBatch batch = new ExtendBatch();

  /**
   * The requests that need blocks in this step, in start order, and the tokens that their blocks
   * must have room for.
   */
  private PlacedRequest[] growing = new PlacedRequest[16];

  private int[] neededTokens = new int[16];
  private int growingCount;

  private int budgetLeft;
  private boolean anyPrefill;

  Growth(BlockPool pool, StartedRequests started, Admission admission, CapacityPolicy policy) {
    this.pool = pool;
    this.tokensPerBlock = pool.shape().tokensPerBlock();
    this.started = started;
    this.admission = admission;
    this.reserved = policy == CapacityPolicy.GUARANTEED_NO_EVICT;
  }

  /**
   * Adds the tokens that the started requests compute to an empty plan. Reserved blocks are taken
   * later, by {@link #lease} or {@link #takeReserved}; other blocks are taken at once.
   *
   * @param withoutPrefill whether prefilling requests wait
   * @return whether a request was paused
   */
  boolean plan(StepPlan plan, int tokenBudget, boolean withoutPrefill, long nowNs) {
    int decodes = Math.min(started.decoding(), tokenBudget);
    budgetLeft = tokenBudget - decodes;
    anyPrefill = false;
    growingCount = 0;
    for (int i = 0; i < started.size(); i++) {
      PlacedRequest request = started.get(i);
      int tokens;
      if (!request.decoding) {
        tokens = withoutPrefill ? 0 : chunk(request);
      } else if (decodes > 0) {
        decodes--;
        tokens = 1;
      } else {
        continue;
      }
      if (tokens > 0) {
        plan.add(request, tokens);
        if (request.computed + tokens > request.leasedTokens) {
          addGrowing(request, request.computed + tokens);
        }
      }
    }
    if (growingCount == 0) {
      return false;
    }
    if (reserved) {
      batchFrom(0);
      return false;
    }
    boolean paused = extend(plan, nowNs);
    growingCount = 0;
    pool.settle(); // requests that start now must not match blocks that were just evicted
    return paused;
  }

  /** Leases for starting requests; takes the reserved blocks in the same call. */
  void lease(LeaseBatch leases) {
    if (growingCount == 0) {
      pool.lease(leases);
      return;
    }
    pool.lease(leases, batch);
    recordGrowth();
  }

  /** Takes the reserved blocks, unless {@link #lease} has taken them. */
  void takeReserved() {
    if (growingCount > 0) {
      pool.extend(batch);
      recordGrowth();
    }
  }

  private void recordGrowth() {
    for (int i = 0; i < growingCount; i++) {
      if (!batch.granted(i)) {
        throw new IllegalStateException("the pool refuses blocks that it has reserved");
      }
      growing[i].leasedTokens += missingBlocks(i) * tokensPerBlock;
    }
    Arrays.fill(growing, 0, growingCount, null);
    growingCount = 0;
  }

  private void batchFrom(int first) {
    batch.clear();
    for (int i = first; i < growingCount; i++) {
      batch.add(growing[i].lease, missingBlocks(i));
    }
  }

  /** Tokens left for requests that start in this step. */
  int budgetLeft() {
    return budgetLeft;
  }

  /** Whether the step has a prefill chunk. */
  boolean anyPrefill() {
    return anyPrefill;
  }

  private int chunk(PlacedRequest request) {
    if (budgetLeft == 0) {
      return 0;
    }
    int tokens =
        ChunkRule.chunk(request.computed, request.length, budgetLeft, !anyPrefill, tokensPerBlock);
    anyPrefill |= tokens > 0;
    boolean unfinished = request.computed + tokens < request.length;
    budgetLeft = unfinished ? 0 : budgetLeft - tokens;
    return tokens;
  }

  private void addGrowing(PlacedRequest request, int tokens) {
    if (growingCount == growing.length) {
      growing = Arrays.copyOf(growing, growingCount * 2);
      neededTokens = Arrays.copyOf(neededTokens, growingCount * 2);
    }
    growing[growingCount] = request;
    neededTokens[growingCount++] = tokens;
  }

  private boolean extend(StepPlan plan, long nowNs) {
    boolean paused = false;
    int cursor = 0;
    while (cursor < growingCount) {
      batchFrom(cursor);
      pool.extend(batch);
      for (int i = 0; i < batch.size() && batch.granted(i); i++) {
        growing[cursor].leasedTokens += missingBlocks(cursor) * tokensPerBlock;
        cursor++;
      }
      if (cursor < growingCount) {
        pauseLast(plan, nowNs);
        paused = true;
      }
    }
    Arrays.fill(growing, 0, growing.length, null);
    return paused;
  }

  private int missingBlocks(int i) {
    return ChunkRule.blocks(neededTokens[i] - growing[i].leasedTokens, tokensPerBlock);
  }

  private void pauseLast(StepPlan plan, long nowNs) {
    PlacedRequest last = started.last();
    admission.release(last); // first, because a failure of the pool must leave the state unchanged
    started.removeLast();
    plan.dropLast(last);
    if (growing[growingCount - 1] == last) {
      growingCount--;
    }
    admission.pause(last, nowNs);
  }
}
