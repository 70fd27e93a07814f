package io.kvasir.pool;

import io.kvasir.event.BlockEvent;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.model.CacheScope;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.util.function.Consumer;

/**
 * Lays batches out as the native pool takes them (the structs of {@code pool_batch.hpp}) and reads
 * the answers back. The memory is kept between calls and grows by doubling; a growth that fails
 * leaves it as it was.
 *
 * <p>Confined to the pool's owner.
 */
final class PoolStaging {

  private static final int LEASE_BYTES = 64;
  private static final int EXTEND_BYTES = 16;
  private static final int COMMIT_BYTES = 32;
  private static final int EVENT_BYTES = 32;

  private static final int INITIAL_TOKENS = 1 << 14;

  private static final int EVENT_STORED = 0;
  private static final int EVENT_REMOVED = 1;

  private final int tokensPerBlock;
  private ByteBuffer entries = NativeMemory.allocate(64 * LEASE_BYTES);
  private long entriesAddress = NativeMemory.address(entries);
  private ByteBuffer tokenBytes;
  private IntBuffer tokens;
  private long tokensAddress;
  private ByteBuffer hashBytes;
  private LongBuffer hashes;
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
      int entry = i * LEASE_BYTES;
      CacheScope scope = batch.scope(i);
      int matchable = batch.matchableBlocks(i);
      entries.putLong(entry, tokensAddress(block));
      entries.putLong(entry + 8, hashesAddress(block));
      entries.putLong(entry + 16, scope.loraTaskId());
      entries.putLong(entry + 24, scope.saltId());
      entries.putInt(entry + 32, scope.presenceMask());
      entries.putInt(entry + 36, matchable);
      entries.putInt(entry + 40, batch.blocks(i));
      entries.putInt(entry + 44, batch.reserveBlocks(i));
      block = copyBlocks(block, batch.tokens(i), batch.sequenceHashes(i), 0, matchable);
    }
    return entriesAddress;
  }

  void readAnswers(LeaseBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      int entry = i * LEASE_BYTES;
      batch.answer(
          i, entries.getInt(entry + 48), entries.getInt(entry + 52), entries.getLong(entry + 56));
    }
  }

  /** Writes the requests; returns the address of their array. */
  long stage(ExtendBatch batch) {
    ensureEntries(batch.size() * EXTEND_BYTES);
    for (int i = 0; i < batch.size(); i++) {
      int entry = i * EXTEND_BYTES;
      entries.putInt(entry, batch.lease(i));
      entries.putInt(entry + 4, batch.blocks(i));
    }
    return entriesAddress;
  }

  void readAnswers(ExtendBatch batch) {
    for (int i = 0; i < batch.size(); i++) {
      batch.answer(i, entries.getLong(i * EXTEND_BYTES + 8));
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
      int entry = i * COMMIT_BYTES;
      entries.putLong(entry, tokensAddress(block));
      entries.putLong(entry + 8, hashesAddress(block));
      entries.putInt(entry + 16, batch.lease(i));
      entries.putInt(entry + 20, batch.fromBlock(i));
      entries.putInt(entry + 24, batch.toBlock(i));
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

  void readEvents(int count, Consumer<BlockEvent> sink) {
    for (int i = 0; i < count; i++) {
      int entry = i * EVENT_BYTES;
      long sequence = entries.getLong(entry);
      long hash = entries.getLong(entry + 8);
      sink.accept(
          switch (entries.getInt(entry + 24)) {
            case EVENT_STORED ->
                new BlockEvent.Stored(
                    sequence, hash, entries.getLong(entry + 16), entries.getInt(entry + 28));
            case EVENT_REMOVED -> new BlockEvent.Removed(sequence, hash);
            default -> new BlockEvent.Cleared(sequence);
          });
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
    if (hashBytes != null && blocks <= hashes.capacity()) {
      return;
    }
    int bytesPerBlock = Math.max(Integer.BYTES * tokensPerBlock, Long.BYTES);
    int most = Integer.MAX_VALUE / bytesPerBlock;
    if (blocks > most) {
      throw new IllegalArgumentException(
          "a batch takes " + most + " blocks of " + tokensPerBlock + " tokens, not " + blocks);
    }
    long doubled = hashBytes == null ? 0 : 2L * hashes.capacity();
    int room = (int) Math.min(most, Math.max(blocks, doubled));
    ByteBuffer newTokenBytes = NativeMemory.allocate(room * tokensPerBlock * Integer.BYTES);
    hashBytes = NativeMemory.allocate(room * Long.BYTES);
    tokenBytes = newTokenBytes;
    tokens = tokenBytes.asIntBuffer();
    tokensAddress = NativeMemory.address(tokenBytes);
    hashes = hashBytes.asLongBuffer();
    hashesAddress = NativeMemory.address(hashBytes);
  }
}
