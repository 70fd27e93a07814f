package io.kvasir.engine.pool;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.CacheScope;
import java.nio.ByteBuffer;

/**
 * The structs of {@code pool_batch.hpp}, written to and read from memory that native code or a
 * device shares. Positions are bytes.
 */
public final class PoolRecords {

  public static final int LEASE_BYTES = 64;
  public static final int EXTEND_BYTES = 16;
  public static final int COMMIT_BYTES = 32;
  public static final int EVENT_BYTES = 32;
  public static final int RESULT_BYTES = 8;

  private static final int EVENT_STORED = 0;
  private static final int EVENT_REMOVED = 1;

  private PoolRecords() {}

  public static void putLease(
      ByteBuffer to, int at, LeaseBatch batch, int i, long tokensAddress, long hashesAddress) {
    CacheScope scope = batch.scope(i);
    to.putLong(at, tokensAddress);
    to.putLong(at + 8, hashesAddress);
    to.putLong(at + 16, scope.loraTaskId());
    to.putLong(at + 24, scope.saltId());
    to.putInt(at + 32, scope.presenceMask());
    to.putInt(at + 36, batch.matchableBlocks(i));
    to.putInt(at + 40, batch.blocks(i));
    to.putInt(at + 44, batch.reserveBlocks(i));
  }

  public static void readLeaseAnswer(ByteBuffer from, int at, LeaseBatch batch, int i) {
    batch.answer(i, from.getInt(at + 48), from.getInt(at + 52), from.getLong(at + 56));
  }

  public static void putExtend(ByteBuffer to, int at, ExtendBatch batch, int i) {
    to.putInt(at, batch.lease(i));
    to.putInt(at + 4, batch.blocks(i));
  }

  public static long extendAnswer(ByteBuffer from, int at) {
    return from.getLong(at + 8);
  }

  public static void putCommit(
      ByteBuffer to, int at, CommitBatch batch, int i, long tokensAddress, long hashesAddress) {
    to.putLong(at, tokensAddress);
    to.putLong(at + 8, hashesAddress);
    to.putInt(at + 16, batch.lease(i));
    to.putInt(at + 20, batch.fromBlock(i));
    to.putInt(at + 24, batch.toBlock(i));
  }

  public static long eventId(ByteBuffer from, int at) {
    return from.getLong(at);
  }

  public static BlockEvent event(ByteBuffer from, int at) {
    long hash = eventHash(from, at);
    return switch (from.getInt(at + 24)) {
      case EVENT_STORED ->
          from.getInt(at + 28) == 0 // depth
              ? BlockEvent.Stored.named(null, hash)
              : BlockEvent.Stored.namedAfter(null, from.getLong(at + 16), hash);
      case EVENT_REMOVED -> BlockEvent.Removed.of(hash);
      default -> new BlockEvent.Cleared();
    };
  }

  public static boolean isStored(ByteBuffer from, int at) {
    return from.getInt(at + 24) == EVENT_STORED;
  }

  public static long eventHash(ByteBuffer from, int at) {
    return from.getLong(at + 8);
  }
}
