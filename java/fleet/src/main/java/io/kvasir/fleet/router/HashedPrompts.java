package io.kvasir.fleet.router;

import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.CacheScope;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Hashes the blocks of prompts, and keeps the latest prompt of each conversation with its hashes:
 * those of the next one go on from the last block that both have. Only equal tokens count, so that
 * a wrong conversation costs time, and never changes a hash.
 *
 * <p>The conversations used last are kept, within a bound of bytes. Thread-safe.
 */
final class HashedPrompts {

  /** Shorter prompts are hashed faster than they are found. */
  static final int LEAST_TOKENS = 1024;

  /** Bytes of an entry besides its arrays and its conversation's id, about. */
  private static final int ENTRY_BYTES = 256;

  private final long maxBytes;

  // Guarded by this.
  private final Map<Key, Hashed> latest = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  private record Key(
      String conversation, HashFormat format, int tokensPerBlock, CacheScope scope) {}

  @SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
  private record Hashed(int[] tokens, BlockHashes hashes) {}

  /**
   * Begins without prompts.
   *
   * @param maxBytes the bound of what is kept
   */
  HashedPrompts(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Hashes all full blocks of a prompt. O(tokens), most of which are only compared.
   *
   * @param hasher the hasher
   * @param conversation the conversation's id; null for none
   * @param tokens the prompt; shared, and must not be changed
   * @param scope its LoRA adapter and salt
   * @return what {@link BlockHasher#hash} returns
   */
  BlockHashes hash(
      BlockHasher hasher, @Nullable String conversation, int[] tokens, CacheScope scope) {
    if (conversation == null || tokens.length < LEAST_TOKENS) {
      return hasher.hash(tokens, scope);
    }
    Key key = new Key(conversation, hasher.format(), hasher.tokensPerBlock(), scope);
    Hashed before = get(key);
    int differs = before == null ? 0 : Arrays.mismatch(before.tokens, tokens);
    if (before != null && differs < 0) {
      return before.hashes;
    }
    int known = differs / hasher.tokensPerBlock();
    BlockHashes hashes =
        before == null || known == 0
            ? hasher.hash(tokens, scope)
            : goOn(before.hashes, known, hasher, tokens, scope);
    put(key, new Hashed(tokens, hashes));
    return hashes;
  }

  private static BlockHashes goOn(
      BlockHashes before, int known, BlockHasher hasher, int[] tokens, CacheScope scope) {
    int blocks = tokens.length / hasher.tokensPerBlock();
    long[] local = new long[blocks];
    long[] sequence = new long[blocks];
    System.arraycopy(before.local(), 0, local, 0, known);
    System.arraycopy(before.sequence(), 0, sequence, 0, known);
    hasher.hashBlocks(scope, tokens, known, blocks, local, sequence);
    return new BlockHashes(local, sequence);
  }

  private synchronized @Nullable Hashed get(Key key) {
    return latest.get(key);
  }

  private synchronized void put(Key key, Hashed hashed) {
    long added = bytes(key, hashed);
    if (added > maxBytes) {
      return;
    }
    Hashed before = latest.put(key, hashed);
    bytes += added - (before == null ? 0 : bytes(key, before));
    Iterator<Map.Entry<Key, Hashed>> eldest = latest.entrySet().iterator();
    while (bytes > maxBytes && eldest.hasNext()) {
      Map.Entry<Key, Hashed> dropped = eldest.next();
      bytes -= bytes(dropped.getKey(), dropped.getValue());
      eldest.remove();
    }
  }

  private static long bytes(Key key, Hashed hashed) {
    return ENTRY_BYTES
        + 2L * key.conversation.length()
        + (long) Integer.BYTES * hashed.tokens.length
        + 2L * Long.BYTES * hashed.hashes.blocks();
  }
}
