package io.kvasir.engine.pool;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.CacheScope;
import java.nio.ByteBuffer;

/**
 * Reads and writes the structs of {@code pool_batch.hpp} in memory shared with native code or a
 * device. Positions are in bytes. Stateless.
 */
public final class PoolRecords {

  /** Size of a {@code LeaseRequest}. */
  public static final int LEASE_BYTES = 64;

  /** Size of an {@code ExtendRequest}. */
  public static final int EXTEND_BYTES = 16;

  /** Size of a {@code CommitRequest}. */
  public static final int COMMIT_BYTES = 32;

  /** Size of a {@code BlockEvent}. */
  public static final int EVENT_BYTES = 32;

  /** Size of a {@code PoolResult}. */
  public static final int RESULT_BYTES = 8;

  private static final int EVENT_STORED = 0;
  private static final int EVENT_REMOVED = 1;

  private PoolRecords() {}

  /**
   * Writes a lease request.
   *
   * @param to the memory
   * @param at position of the struct
   * @param batch the batch
   * @param i the request's index in the batch
   * @param tokensAddress address of the tokens of its matchable blocks
   * @param hashesAddress address of the sequence hashes of its matchable blocks
   */
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

  /**
   * Copies the answer to a lease request into its batch.
   *
   * @param from the memory
   * @param at position of the struct
   * @param batch the batch; receives the answer
   * @param i the request's index in the batch
   */
  public static void readLeaseAnswer(ByteBuffer from, int at, LeaseBatch batch, int i) {
    batch.answer(i, from.getInt(at + 48), from.getInt(at + 52), from.getLong(at + 56));
  }

  /**
   * Writes an extend request.
   *
   * @param to the memory
   * @param at position of the struct
   * @param batch the batch
   * @param i the entry's index in the batch
   */
  public static void putExtend(ByteBuffer to, int at, ExtendBatch batch, int i) {
    to.putInt(at, batch.lease(i));
    to.putInt(at + 4, batch.blocks(i));
  }

  /**
   * Reads the answer to an extend request.
   *
   * @param from the memory
   * @param at position of the struct
   * @return missing blocks; 0 if the extension was granted
   */
  public static long extendAnswer(ByteBuffer from, int at) {
    return from.getLong(at + 8);
  }

  /**
   * Writes a commit request.
   *
   * @param to the memory
   * @param at position of the struct
   * @param batch the batch
   * @param i the entry's index in the batch
   * @param tokensAddress address of the tokens of the committed blocks
   * @param hashesAddress address of the sequence hashes of the committed blocks
   */
  public static void putCommit(
      ByteBuffer to, int at, CommitBatch batch, int i, long tokensAddress, long hashesAddress) {
    to.putLong(at, tokensAddress);
    to.putLong(at + 8, hashesAddress);
    to.putInt(at + 16, batch.lease(i));
    to.putInt(at + 20, batch.fromBlock(i));
    to.putInt(at + 24, batch.toBlock(i));
  }

  /**
   * Reads the number of an event.
   *
   * @param from the memory
   * @param at position of the struct
   * @return the number, from 0
   */
  public static long eventId(ByteBuffer from, int at) {
    return from.getLong(at);
  }

  /**
   * Reads an event. Its handles are sequence hashes.
   *
   * @param from the memory
   * @param at position of the struct
   * @return the event
   */
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

  /**
   * Reads the sequence hash of an event's block.
   *
   * @param from the memory
   * @param at position of the struct
   * @return the hash; undefined for a cleared event
   */
  public static long eventHash(ByteBuffer from, int at) {
    return from.getLong(at + 8);
  }
}
