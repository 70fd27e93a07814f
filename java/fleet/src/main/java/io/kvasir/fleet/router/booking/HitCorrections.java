package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.router.HitCorrection;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import org.jspecify.annotations.Nullable;

/** What each worker's engine reuses of the blocks that it holds. Guarded by the router's lock. */
final class HitCorrections {

  private final int tokensPerBlock;
  private final Long2ObjectOpenHashMap<HitLearner> workers = new Long2ObjectOpenHashMap<>();
  private final Long2ObjectOpenHashMap<Held> attempts = new Long2ObjectOpenHashMap<>();

  /** What a worker held when an attempt was placed. */
  private record Held(long workerId, int blocks, int promptTokens) {}

  HitCorrections(int tokensPerBlock) {
    this.tokensPerBlock = tokensPerBlock;
  }

  /** What is reused at a worker. */
  HitCorrection of(long workerId) {
    HitLearner learner = workers.get(workerId);
    return learner == null ? HitCorrection.NONE : learner.learned();
  }

  void onPlaced(long attempt, RankId rank, int heldBlocks, int promptTokens) {
    if (heldBlocks > 0) {
      attempts.put(attempt, new Held(rank.workerId(), heldBlocks, promptTokens));
    }
  }

  void onEnded(long attempt) {
    attempts.remove(attempt);
  }

  /**
   * The engine has reported the cached tokens of an attempt; negative if it has reported none.
   *
   * @return the worker whose correction has changed; null for none
   */
  @Nullable Long onServed(long attempt, int cachedTokens) {
    Held held = attempts.remove(attempt);
    if (held == null) {
      return null;
    }
    HitLearner learner =
        workers.computeIfAbsent(held.workerId, unused -> new HitLearner(tokensPerBlock));
    boolean changed = learner.served(held.blocks, held.promptTokens, cachedTokens);
    return changed ? (Long) held.workerId : null;
  }

  /** A worker's ranks have changed: it may be another engine. */
  void forget(long workerId) {
    workers.remove(workerId);
  }
}
