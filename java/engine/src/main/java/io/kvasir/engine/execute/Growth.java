package io.kvasir.engine.execute;

import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.LeaseBatch;
import java.util.Arrays;

/**
 * First half of scheduling a step: the started requests go on.
 *
 * <p>In the order in which they started, decoding requests take one token each, then prefills go on
 * by chunks; a prefill that stays unfinished ends the step's prefill. Requests whose next tokens
 * need new blocks extend their leases, all in one batch. GUARANTEED_NO_EVICT has promised these
 * blocks; they are taken together with the leases of those who start in the same step, and behind
 * them, so that what those found is not evicted before they hold it. Under MAX_UTILIZATION the
 * first refused request is the cursor: the last started request at or behind it is paused and the
 * cursor tries again, until it gets its blocks or is itself paused. The oldest request is therefore
 * paused only if it is alone, and alone it cannot be refused, so it always ends.
 *
 * <p>Confined to the rank's executor thread.
 */
final class Growth {

  private final BlockPool pool;
  private final int tokensPerBlock;
  private final StartedRequests started;
  private final Admission admission;
  private final boolean promised;
  private final ExtendBatch batch = new ExtendBatch();

  /** Who wants blocks in this step, in start order, and how many tokens they must have room for. */
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
    this.promised = policy == CapacityPolicy.GUARANTEED_NO_EVICT;
  }

  /**
   * Adds what the started requests compute to an empty plan. Blocks that were promised are taken by
   * {@link #lease} or {@link #takePromised}, others at once.
   *
   * @param withoutPrefill whether those that prefill wait
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
    if (promised) {
      batchFrom(0);
      return false;
    }
    boolean paused = extend(plan, nowNs);
    growingCount = 0;
    pool.settle(); // what was evicted must not be found by those who start now
    return paused;
  }

  /** Leases for those who start; what was promised goes along. */
  void lease(LeaseBatch leases) {
    if (growingCount == 0) {
      pool.lease(leases);
      return;
    }
    pool.lease(leases, batch);
    grown();
  }

  /** Takes what was promised, unless a lease took it along. */
  void takePromised() {
    if (growingCount > 0) {
      pool.extend(batch);
      grown();
    }
  }

  private void grown() {
    for (int i = 0; i < growingCount; i++) {
      if (!batch.granted(i)) {
        throw new IllegalStateException("the pool refuses blocks that it has promised");
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

  /** Tokens that requests may still take which start in this step. */
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
    admission.release(last); // if the pool fails, nothing has changed yet
    started.removeLast();
    plan.dropLast(last);
    if (growing[growingCount - 1] == last) {
      growingCount--;
    }
    admission.pause(last, nowNs);
  }
}
