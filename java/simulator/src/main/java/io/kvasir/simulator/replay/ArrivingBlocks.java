package io.kvasir.simulator.replay;

import io.kvasir.engine.execute.AdpWorker;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.simulator.fleet.KvWorkers;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Blocks in the pools of a decode worker into which KV is being moved. They are leased until the
 * transfer ends, and then cached like those of a request that has ended.
 *
 * <p>Confined to the thread that drives the replay.
 */
final class ArrivingBlocks {

  private final AdpWorker worker;
  private final int ranks;
  private final int mostPerRank;
  private final int[] count;
  private final Long2ObjectOpenHashMap<Hold> holds = new Long2ObjectOpenHashMap<>();
  private final LeaseBatch lease = new LeaseBatch();
  private final CommitBatch commit = new CommitBatch();
  private final ProbeBatch probe = new ProbeBatch();
  private final int[] one = new int[1];

  private record Hold(int rank, int lease, int matchedBlocks, HashedRequest request) {}

  /** Begins without blocks; the pools have leases for {@code mostPerRank} more than requests. */
  ArrivingBlocks(AdpWorker worker, int ranks, int mostPerRank) {
    this.worker = worker;
    this.ranks = ranks;
    this.mostPerRank = mostPerRank;
    this.count = new int[ranks];
  }

  boolean isEmpty() {
    return holds.isEmpty();
  }

  /**
   * Leases the blocks of a prompt; null if there is no room now. A request that fits into no pool
   * gets none, so that the worker rejects it.
   */
  KvWorkers.@Nullable Room reserve(HashedRequest hashed) {
    Request request = hashed.request();
    int target = request.targetRank();
    int rank = target == Request.ANY_RANK ? leastLoaded() : target;
    HashedRequest there =
        new HashedRequest(
            request.toBuilder().targetRank(rank).relax(false).build(), hashed.hashes());
    BlockPool pool = worker.pools().get(rank);
    int blockTokens = pool.shape().tokensPerBlock();
    int blocks = (request.promptTokens() + blockTokens - 1) / blockTokens;
    if (blocks > pool.shape().capacityBlocks()) {
      return new KvWorkers.Room(there, 0);
    }
    if (count[rank] == mostPerRank) {
      return null;
    }
    lease.clear();
    int[] tokens = request.tokens();
    lease.add(
        tokens, hashed.hashes().sequence(), request.scope(), hashed.hashes().blocks(), blocks, 0);
    pool.lease(lease);
    if (lease.lease(0) == LeaseBatch.REFUSED) {
      return null;
    }
    int matched = lease.matchedBlocks(0);
    holds.put(request.id(), new Hold(rank, lease.lease(0), matched, there));
    count[rank]++;
    return new KvWorkers.Room(there, request.promptTokens() - matched * blockTokens);
  }

  private int leastLoaded() {
    int least = 0;
    for (int rank = 1; rank < ranks; rank++) {
      if (load(rank) < load(least)) {
        least = rank;
      }
    }
    return least;
  }

  private int load(int rank) {
    return count[rank] + worker.executors().get(rank).activeRequests();
  }

  /** Stores the blocks that have come. */
  void store(long requestId) {
    Hold hold = holds.remove(requestId);
    if (hold == null) {
      return;
    }
    BlockPool pool = worker.pools().get(hold.rank());
    HashedRequest request = hold.request();
    int full = request.hashes().blocks();
    if (hold.matchedBlocks() < full) {
      commit.clear();
      commit.add(
          hold.lease(),
          request.request().tokens(),
          request.hashes().sequence(),
          hold.matchedBlocks(),
          full);
      pool.commit(commit);
    }
    count[hold.rank()]--;
    one[0] = hold.lease();
    pool.release(one, 1);
  }

  /** The most leading blocks of a prompt that a rank has. */
  int mostMatchedBlocks(HashedRequest request) {
    int most = 0;
    for (int rank = 0; rank < ranks; rank++) {
      probe.clear();
      probe.add(request.hashes().sequence(), request.hashes().blocks());
      worker.pools().get(rank).probe(probe, one, 0);
      most = Math.max(most, one[0]);
    }
    return most;
  }
}
