package io.kvasir.engine.pool.shared;

import io.kvasir.engine.pool.DirectoryMirror;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.internal.nativelib.PoolLibrary;
import io.kvasir.model.Checks;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/**
 * Layout of the file of a shared pool, and the fields of its header.
 *
 * <pre>
 *      0  constants: magic, versions, shape, rank, bytes of KV per block, region, owner
 *    128  heartbeat, closed                    written by the owner
 *    192  requested: snapshots requested        incremented by readers
 *    256  answered: requests served             written by the owner
 *   4096  occupancy page (occupancy_page.hpp)
 *   4224  event ring (event_ring_core.hpp), to the end
 * </pre>
 *
 * <p>Words are in native byte order. The file appears under its name only when it is complete.
 */
final class SharedPoolLayout {

  static final int HEARTBEAT = 128;
  static final int CLOSED = 136;
  static final int REQUESTED = 192;
  static final int ANSWERED = 256;
  static final int PAGE = 4096;
  static final int RING = PAGE + 128;

  /** {@code KVASIRSP} in little-endian byte order. */
  static final long MAGIC = 0x5053_5249_5341_564bL;

  static final int VERSION = 1;

  private static final int VERSION_AT = 8;
  private static final int ABI_AT = 12;
  private static final int SHAPE_AT = 16;
  private static final int DP_RANK_AT = 36;
  private static final int WORKER_AT = 40;
  private static final int KV_AT = 48;
  private static final int REGION_AT = 56;
  private static final int OWNER_AT = 64;

  private static final int RING_HEAD_BYTES = 64;
  private static final int EVENT_BYTES = 32;
  private static final int MEMORY_PAGE = 4096;

  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private SharedPoolLayout() {}

  /**
   * The constant fields.
   *
   * @param shape the pool's sizes
   * @param rank the pool's rank
   * @param kvBytesPerBlock bytes of KV memory of a block; 0 when there is none
   * @param region a random number that identifies this region among those with the same file name
   * @param owner the process that writes
   */
  record Header(
      PoolShape shape, RankId rank, long kvBytesPerBlock, long region, OwnerProcess owner) {

    void write(ByteBuffer to) {
      to.putLong(0, MAGIC);
      to.putInt(VERSION_AT, VERSION);
      to.putInt(ABI_AT, PoolLibrary.kvasir_abi_version());
      to.putInt(SHAPE_AT, shape.capacityBlocks());
      to.putInt(SHAPE_AT + 4, shape.tokensPerBlock());
      to.putInt(SHAPE_AT + 8, shape.maxLeases());
      to.putInt(SHAPE_AT + 12, shape.maxBlocksPerLease());
      to.putInt(SHAPE_AT + 16, shape.eventCapacity());
      to.putInt(DP_RANK_AT, rank.dpRank());
      to.putLong(WORKER_AT, rank.workerId());
      to.putLong(KV_AT, kvBytesPerBlock);
      to.putLong(REGION_AT, region);
      to.putLong(OWNER_AT, owner.pid());
      to.putLong(OWNER_AT + 8, owner.startTicks());
      to.putLong(OWNER_AT + 16, owner.pidNamespace());
    }

    /** Reads and checks a header. The exception's message states the file's defect. */
    static Header read(Path file, ByteBuffer from, long fileBytes) throws IOException {
      requireMagic(file, from);
      int version = from.getInt(VERSION_AT);
      if (version != VERSION) {
        throw new IOException(
            file
                + " has version "
                + version
                + " of shared pools; only version "
                + VERSION
                + " is supported");
      }
      int abi = PoolLibrary.kvasir_abi_version();
      if (from.getInt(ABI_AT) != abi) {
        throw new IOException(
            file
                + " was written by a library of interface version "
                + from.getInt(ABI_AT)
                + "; this library has "
                + abi);
      }
      try {
        PoolShape shape =
            new PoolShape(
                from.getInt(SHAPE_AT),
                from.getInt(SHAPE_AT + 4),
                from.getInt(SHAPE_AT + 8),
                from.getInt(SHAPE_AT + 12),
                from.getInt(SHAPE_AT + 16));
        if (fileBytes != bytes(shape)) {
          throw new IOException(
              file + " is truncated: " + fileBytes + " of " + bytes(shape) + " bytes");
        }
        Checks.atLeast("kvBytesPerBlock", from.getLong(KV_AT), 0);
        return new Header(
            shape,
            new RankId(from.getLong(WORKER_AT), from.getInt(DP_RANK_AT)),
            from.getLong(KV_AT),
            from.getLong(REGION_AT),
            new OwnerProcess(
                from.getLong(OWNER_AT), from.getLong(OWNER_AT + 8), from.getLong(OWNER_AT + 16)));
      } catch (IllegalArgumentException e) {
        throw new IOException(file + " has a damaged header: " + e.getMessage(), e);
      }
    }
  }

  static void requireMagic(Path file, ByteBuffer header) throws IOException {
    if (header.getLong(0) != MAGIC) {
      throw new IOException(file + " is not a shared pool: its magic number is wrong");
    }
  }

  /**
   * Size of the file.
   *
   * @throws IllegalArgumentException if a pool of that shape cannot be shared
   */
  static int bytes(PoolShape shape) {
    long most = Integer.MAX_VALUE - MEMORY_PAGE;
    long mostEvents = (most - RING - RING_HEAD_BYTES) / EVENT_BYTES;
    if (shape.eventCapacity() < 1 || shape.eventCapacity() > mostEvents) {
      throw new IllegalArgumentException(
          "eventCapacity of a shared pool must be 1 to "
              + mostEvents
              + ", not "
              + shape.eventCapacity());
    }
    if (DirectoryMirror.bucketBytes(shape.capacityBlocks()) > most) {
      throw new IllegalArgumentException(
          "capacityBlocks of a shared pool must fit into a snapshot of "
              + most
              + " bytes with 16 bytes for each block, not "
              + shape.capacityBlocks());
    }
    int used = RING + RING_HEAD_BYTES + shape.eventCapacity() * EVENT_BYTES;
    return (used + MEMORY_PAGE - 1) / MEMORY_PAGE * MEMORY_PAGE;
  }

  static long load(ByteBuffer region, int at) {
    return (long) WORDS.getAcquire(region, at);
  }

  static void store(ByteBuffer region, int at, long value) {
    WORDS.setRelease(region, at, value);
  }

  /** Adds one; returns the previous value. */
  static long increment(ByteBuffer region, int at) {
    return (long) WORDS.getAndAdd(region, at, 1L);
  }
}
