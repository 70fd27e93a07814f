package io.kvasir.engine.pool;

import static io.kvasir.engine.pool.PoolRecords.COMMIT_BYTES;
import static io.kvasir.engine.pool.PoolRecords.EVENT_BYTES;
import static io.kvasir.engine.pool.PoolRecords.EXTEND_BYTES;
import static io.kvasir.engine.pool.PoolRecords.LEASE_BYTES;

import io.kvasir.event.BlockEventSink;
import io.kvasir.internal.nativelib.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;

/**
 * Writes batches in the native pool's layout (the structs of {@code pool_batch.hpp}) and reads the
 * answers. The memory is reused between calls and grows by doubling. A failed growth leaves it
 * unchanged.
 *
 * <p>Confined to the pool's owner.
 */
final class PoolStaging {

  private static final int INITIAL_TOKENS = 1 << 14;

  private final int tokensPerBlock;
  private ByteBuffer entries = NativeMemory.allocate(64 * LEASE_BYTES);
  private long entriesAddress = NativeMemory.address(entries);
  private IntBuffer tokens = IntBuffer.allocate(0);
  private long tokensAddress;
  private LongBuffer hashes = LongBuffer.allocate(0);
  private long hashesAddress;

  PoolStaging(int tokensPerBlock) {
    this.tokensPerBlock = tokensPerBlock;
    ensureBlocks(Math.max(1, INITIAL_TOKENS / tokensPerBlock));
  }

  /** Writes the requests; returns the address of their array. */
  long stage(LeaseBatch batch) {
    ensureEntries(batch.size() * LEASE_BYTES);
    long blocks = 0;
    for (int i = 0; i < batch.size(); i++) {
      blocks += batch.matchableBlocks(i);
    }
    ensureBlocks(blocks);
    int block = 0;
    for (int i = 0; i < batch.size(); i++) {
      PoolRecords.putLease(
          entries, i * LEASE_BYTES, batch, i, tokensAddress(block), hashesAddress(block));
      block =
          copyBlocks(block, batch.tokens(i), batch.sequenceHashes(i), 0, batch.matchableBlocks(i));
    }
    return entriesAddress;
  }

  void readAnswers(LeaseBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      PoolRecords.readLeaseAnswer(entries, i * LEASE_BYTES, batch, i);
    }
  }

  /** Writes the requests; returns the address of their array. */
  long stage(ExtendBatch batch) {
    ensureEntries(batch.size() * EXTEND_BYTES);
    for (int i = 0; i < batch.size(); i++) {
      PoolRecords.putExtend(entries, i * EXTEND_BYTES, batch, i);
    }
    return entriesAddress;
  }

  void readAnswers(ExtendBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      batch.answer(i, PoolRecords.extendAnswer(entries, i * EXTEND_BYTES));
    }
  }

  /** Writes the requests; returns the address of their array. */
  long stage(CommitBatch batch) {
    ensureEntries(batch.size() * COMMIT_BYTES);
    long blocks = 0;
    for (int i = 0; i < batch.size(); i++) {
      blocks += batch.toBlock(i) - batch.fromBlock(i);
    }
    ensureBlocks(blocks);
    int block = 0;
    for (int i = 0; i < batch.size(); i++) {
      PoolRecords.putCommit(
          entries, i * COMMIT_BYTES, batch, i, tokensAddress(block), hashesAddress(block));
      block =
          copyBlocks(
              block,
              batch.tokens(i),
              batch.sequenceHashes(i),
              batch.fromBlock(i),
              batch.toBlock(i));
    }
    return entriesAddress;
  }

  /** Makes room for events; returns the address of their array. */
  long roomForEvents(int count) {
    ensureEntries(count * EVENT_BYTES);
    return entriesAddress;
  }

  void readEvents(int count, BlockEventSink sink) {
    for (int i = 0; i < count; i++) {
      int at = i * EVENT_BYTES;
      sink.onEvent(PoolRecords.eventId(entries, at), PoolRecords.event(entries, at));
    }
  }

  private int copyBlocks(int block, int[] from, long[] fromHashes, int fromBlock, int toBlock) {
    int count = toBlock - fromBlock;
    tokens.put(block * tokensPerBlock, from, fromBlock * tokensPerBlock, count * tokensPerBlock);
    hashes.put(block, fromHashes, fromBlock, count);
    return block + count;
  }

  private long tokensAddress(int block) {
    return tokensAddress + (long) block * tokensPerBlock * Integer.BYTES;
  }

  private long hashesAddress(int block) {
    return hashesAddress + (long) block * Long.BYTES;
  }

  private void ensureEntries(int bytes) {
    if (bytes > entries.capacity()) {
      entries = NativeMemory.allocate(Math.max(bytes, entries.capacity() * 2));
      entriesAddress = NativeMemory.address(entries);
    }
  }

  private void ensureBlocks(long blocks) {
    if (blocks <= hashes.capacity()) {
      return;
    }
    int bytesPerBlock = Math.max(Integer.BYTES * tokensPerBlock, Long.BYTES);
    int most = Integer.MAX_VALUE / bytesPerBlock;
    if (blocks > most) {
      throw new IllegalArgumentException(
          "a batch must have at most "
              + most
              + " blocks of "
              + tokensPerBlock
              + " tokens, not "
              + blocks);
    }
    long doubled = 2L * hashes.capacity();
    int room = (int) Math.min(most, Math.max(blocks, doubled));
    ByteBuffer tokenBytes = NativeMemory.allocate(room * tokensPerBlock * Integer.BYTES);
    ByteBuffer hashBytes = NativeMemory.allocate(room * Long.BYTES);
    tokens = tokenBytes.asIntBuffer();
    tokensAddress = NativeMemory.address(tokenBytes);
    hashes = hashBytes.asLongBuffer();
    hashesAddress = NativeMemory.address(hashBytes);
  }
}
