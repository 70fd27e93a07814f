package io.kvasir.engine.pool.cuda;

import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.ExtendBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.PoolRefusal;
import io.kvasir.engine.pool.PoolShape;
import java.util.BitSet;

/**
 * The host's record of the leases of a pool on a device. It validates calls and answers extensions
 * without the device. Every check is O(entries).
 *
 * <p>Confined to the thread of the pool's owner.
 */
final class LeaseLedger {

  private static final int NOT_IN_USE = 0;

  private final PoolShape shape;

  /** Length of each lease's block table; {@link #NOT_IN_USE} for an unused lease. */
  private final int[] blocks;

  private final int[] committedBlocks;
  private final int[] reservedBlocks;

  /** Leases that were open during a clear. None of their later blocks is named. */
  private final BitSet stale = new BitSet();

  /** Number of the last batch that contained each lease, to detect duplicates in a batch. */
  private final long[] seenInBatch;

  private long batch;

  LeaseLedger(PoolShape shape) {
    this.shape = shape;
    this.blocks = new int[shape.maxLeases()];
    this.committedBlocks = new int[shape.maxLeases()];
    this.reservedBlocks = new int[shape.maxLeases()];
    this.seenInBatch = new long[shape.maxLeases()];
  }

  void requireKnown(int lease) {
    if (!known(lease)) {
      throw new IllegalArgumentException("lease " + lease + " is unknown");
    }
  }

  int blocks(int lease) {
    return blocks[lease];
  }

  /** Blocks of an extension that the lease's own reservation does not cover. */
  int beyondReservation(int lease, int additionalBlocks) {
    return Math.max(0, additionalBlocks - reservedBlocks[lease]);
  }

  void requireValid(LeaseBatch leases) {
    for (int i = 0; i < leases.size(); i++) {
      PoolRefusal.requireTokens(leases.tokens(i), leases.matchableBlocks(i), shape);
    }
    for (int i = 0; i < leases.size(); i++) {
      if (leases.blocks(i) > shape.maxBlocksPerLease()) {
        throw PoolRefusal.of(PoolRefusal.TOO_MANY_BLOCKS, i, shape);
      }
    }
  }

  void requireValid(ExtendBatch extensions) {
    batch++;
    for (int i = 0; i < extensions.size(); i++) {
      int lease = extensions.lease(i);
      int error = checkLease(lease);
      if (error == PoolRefusal.NONE
          && extensions.blocks(i) > shape.maxBlocksPerLease() - blocks[lease]) {
        error = PoolRefusal.TOO_MANY_BLOCKS;
      }
      refuse(error, i);
    }
  }

  /** Checks that extensions are valid and within the leases' own reservations. */
  void requireReserved(ExtendBatch extensions) {
    requireValid(extensions);
    for (int i = 0; i < extensions.size(); i++) {
      if (beyondReservation(extensions.lease(i), extensions.blocks(i)) > 0) {
        throw new IllegalArgumentException(
            "entry " + i + " of the extensions: it exceeds its lease's reservation");
      }
    }
  }

  void requireValid(CommitBatch commits) {
    for (int i = 0; i < commits.size(); i++) {
      PoolRefusal.requireTokens(commits.tokens(i), commits.toBlock(i), shape);
    }
    batch++;
    for (int i = 0; i < commits.size(); i++) {
      int lease = commits.lease(i);
      int error = checkLease(lease);
      if (error == PoolRefusal.NONE && commits.fromBlock(i) != committedBlocks[lease]) {
        error = PoolRefusal.WRONG_FROM_BLOCK;
      }
      if (error == PoolRefusal.NONE && commits.toBlock(i) > blocks[lease]) {
        error = PoolRefusal.BEYOND_LEASE;
      }
      refuse(error, i);
    }
  }

  void requireValid(int[] leases, int count) {
    batch++;
    for (int i = 0; i < count; i++) {
      refuse(checkLease(leases[i]), i);
    }
  }

  /** Records the leases that the device admitted. */
  void opened(LeaseBatch leases) {
    for (int i = 0; i < leases.size(); i++) {
      int lease = leases.lease(i);
      if (lease != LeaseBatch.REFUSED) {
        blocks[lease] = leases.blocks(i);
        committedBlocks[lease] = leases.matchedBlocks(i);
        reservedBlocks[lease] = leases.reserveBlocks(i);
        stale.clear(lease);
      }
    }
  }

  void extended(int lease, int additionalBlocks) {
    blocks[lease] += additionalBlocks;
    reservedBlocks[lease] = Math.max(0, reservedBlocks[lease] - additionalBlocks);
  }

  void committed(CommitBatch commits) {
    for (int i = 0; i < commits.size(); i++) {
      committedBlocks[commits.lease(i)] = commits.toBlock(i);
    }
  }

  void released(int[] leases, int count) {
    for (int i = 0; i < count; i++) {
      blocks[leases[i]] = NOT_IN_USE;
    }
  }

  /** Records a clear of the pool. */
  void cleared() {
    for (int lease = 0; lease < blocks.length; lease++) {
      stale.set(lease, blocks[lease] != NOT_IN_USE);
    }
  }

  /** Whether later blocks of a lease can be named. */
  boolean nameable(int lease) {
    return !stale.get(lease);
  }

  private boolean known(int lease) {
    return lease >= 0 && lease < blocks.length && blocks[lease] != NOT_IN_USE;
  }

  /** Checks that a lease exists and is in the current batch only once. */
  private int checkLease(int lease) {
    if (!known(lease)) {
      return PoolRefusal.UNKNOWN_LEASE;
    }
    boolean twice = seenInBatch[lease] == batch;
    seenInBatch[lease] = batch;
    return twice ? PoolRefusal.LEASE_GIVEN_TWICE : PoolRefusal.NONE;
  }

  private void refuse(int error, int entry) {
    if (error != PoolRefusal.NONE) {
      throw PoolRefusal.of(error, entry, shape);
    }
  }
}
