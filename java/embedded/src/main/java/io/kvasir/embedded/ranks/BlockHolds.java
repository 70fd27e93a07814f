package io.kvasir.embedded.ranks;

import io.kvasir.embedded.ranks.BlockHold.Purpose;
import io.kvasir.engine.execute.AdpWorker;
import io.kvasir.engine.execute.CrowdedPoolException;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.CacheScope;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Blocks that transfers keep in the ranks' pools, besides those of requests.
 *
 * <p>They may leave too little room for requests. Pinned blocks go when their lease ends. Blocks
 * that have arrived are kept until their request runs, unless no request can run otherwise: {@link
 * #crowd}.
 *
 * <p>Confined to the ranks' thread.
 */
public final class BlockHolds {

  /** Most holds of a rank at the same time. */
  public static final int MAX = 1024;

  private static final Logger LOG = LoggerFactory.getLogger(BlockHolds.class);

  /** Least time between two warnings. */
  private static final long WARN_NS = 1_000_000_000;

  private final AdpWorker worker;
  private final List<BlockFeed> feeds;
  private final RankMeters meters;
  private final Set<BlockHold> holds = new LinkedHashSet<>();
  private final LeaseBatch lease = new LeaseBatch();
  private final CommitBatch commit = new CommitBatch();
  private final int[] count;
  private final int[] oneLease = new int[1];
  private long warnedNs = System.nanoTime() - WARN_NS;

  BlockHolds(AdpWorker worker, List<BlockFeed> feeds, RankMeters meters) {
    this.worker = worker;
    this.feeds = feeds;
    this.meters = meters;
    this.count = new int[meters.ranks()];
  }

  /**
   * Keeps the blocks of tokens: those that the pool has, and new ones for the others.
   *
   * @param purpose why
   * @param rank a live rank
   * @param tokens the tokens, at least one
   * @param hashes the hashes of their full blocks
   * @param scope the scope of the blocks
   * @return the blocks; null if there is not enough room now
   */
  public @Nullable BlockHold hold(
      Purpose purpose, int rank, int[] tokens, BlockHashes hashes, CacheScope scope) {
    if (count[rank] == MAX) {
      return null;
    }
    BlockPool pool = worker.pools().get(rank);
    int blockTokens = pool.shape().tokensPerBlock();
    int blocks = (tokens.length + blockTokens - 1) / blockTokens;
    lease.clear();
    lease.add(tokens, hashes.sequence(), scope, hashes.blocks(), blocks, 0);
    pool.lease(lease);
    int own = lease.lease(0);
    if (own == LeaseBatch.REFUSED) {
      return null;
    }
    int[] table = new int[blocks];
    pool.blockTable(own, table);
    BlockHold hold =
        new BlockHold(purpose, rank, own, tokens, hashes, lease.matchedBlocks(0), table);
    holds.add(hold);
    count[rank]++;
    meters.onHeld(purpose, rank, blocks);
    return hold;
  }

  /**
   * Names the blocks that have arrived.
   *
   * @param hold the blocks
   * @param salt the salt of the blocks; null if they have none
   * @param upTo number of leading full blocks whose KV is there
   */
  public void store(BlockHold hold, @Nullable String salt, int upTo) {
    int from = hold.matchedBlocks();
    if (!hold.released && worker.isLive(hold.rank()) && from < upTo) {
      commit.clear();
      commit.add(hold.lease(), hold.tokens(), hold.hashes().sequence(), from, upTo);
      worker.pools().get(hold.rank()).commit(commit);
      if (!feeds.isEmpty()) {
        feeds
            .get(hold.rank())
            .onCommitted(salt, hold.tokens(), hold.hashes().sequence(), from, upTo);
      }
    }
    hold.yields = true;
  }

  /**
   * Releases blocks. No effect on released ones.
   *
   * @param hold the blocks; null for none
   */
  public void release(@Nullable BlockHold hold) {
    if (hold == null || hold.released) {
      return;
    }
    hold.released = true;
    holds.remove(hold);
    count[hold.rank()]--;
    meters.onHeld(hold.purpose(), hold.rank(), -hold.blocks().length);
    if (worker.isLive(hold.rank())) {
      oneLease[0] = hold.lease();
      worker.pools().get(hold.rank()).release(oneLease, 1);
    }
  }

  /**
   * Looks whether an iteration has failed because transfers keep the blocks that requests need, and
   * for no other reason. If so, releases the blocks that have arrived: they stay in the pool as
   * long as nothing else needs their room.
   *
   * @param failure the failure
   * @param nowNs the time
   * @return whether the iteration is to be repeated until there is room
   */
  boolean crowd(RuntimeException failure, long nowNs) {
    if (holds.isEmpty() || !CrowdedPoolException.only(failure)) {
      return false;
    }
    if (nowNs - warnedNs >= WARN_NS) {
      warnedNs = nowNs;
      LOG.warn("Requests wait for blocks that transfers keep: {}", failure.getMessage());
    }
    for (BlockHold hold : new ArrayList<>(holds)) {
      if (hold.yields) {
        release(hold);
      }
    }
    return true;
  }

  /**
   * Whether a rank can keep blocks.
   *
   * @param rank the rank
   * @return false once it is retired
   */
  public boolean isLive(int rank) {
    return worker.isLive(rank);
  }
}
