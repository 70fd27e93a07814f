package io.kvasir.hash;

import io.kvasir.internal.nativelib.HashLibrary;
import io.kvasir.internal.nativelib.NativeMemory;
import io.kvasir.model.CacheScope;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Prompts to hash in one native call, and their hashes. Reusable after {@link #clear()}.
 *
 * <p>Tokens and hashes are in memory outside the heap, so hashing a large batch never delays
 * garbage collection. The memory is freed when the object is collected. Not thread-safe.
 */
public final class PromptBatch {

  /** Maximum number of tokens in a batch: one hash per token takes 2 GiB. */
  public static final int MAX_TOKENS = Integer.MAX_VALUE / Long.BYTES;

  private static final int SCOPE_WORDS = 3;

  private final Column tokens = new Column();
  private final Column tokenOffsets = new Column();
  private final Column blockOffsets = new Column();
  private final Column scopes = new Column();
  private final Column local = new Column();
  private final Column sequence = new Column();
  private int size;
  private int tokenCount;
  private int hashedSize;

  /** Makes an empty batch. */
  public PromptBatch() {}

  /**
   * Adds a prompt, copying its tokens.
   *
   * @param prompt the prompt's tokens
   * @param scope its LoRA adapter and salt
   * @return the prompt's index in the batch
   * @throws IllegalArgumentException if the batch would have more than {@link #MAX_TOKENS} tokens
   */
  public int add(int[] prompt, CacheScope scope) {
    return add(prompt, 0, prompt.length, scope);
  }

  /**
   * Adds a prompt that is part of an array, copying its tokens.
   *
   * @param array an array that holds the prompt
   * @param from index of the prompt's first token
   * @param to index after its last token
   * @param scope its LoRA adapter and salt
   * @return the prompt's index in the batch
   * @throws IndexOutOfBoundsException if the range is outside the array
   * @throws IllegalArgumentException if the batch would have more than {@link #MAX_TOKENS} tokens
   */
  public int add(int[] array, int from, int to, CacheScope scope) {
    Objects.checkFromToIndex(from, to, array.length);
    Objects.requireNonNull(scope, "scope");
    int length = to - from;
    if (length > MAX_TOKENS - tokenCount) {
      throw new IllegalArgumentException(
          "a batch must have at most "
              + MAX_TOKENS
              + " tokens, not "
              + ((long) tokenCount + length));
    }
    // Reserve all memory first, so that a failure leaves the batch unchanged.
    tokens.reserve((tokenCount + length) * Integer.BYTES);
    tokenOffsets.reserve(Math.multiplyExact(size + 2, Integer.BYTES));
    scopes.reserve(Math.multiplyExact(size + 1, SCOPE_WORDS * Long.BYTES));
    tokens.bytes.asIntBuffer().put(tokenCount, array, from, length);
    tokenCount += length;
    tokenOffsets.bytes.putInt((size + 1) * Integer.BYTES, tokenCount);
    int scopeAt = size * SCOPE_WORDS * Long.BYTES;
    scopes.bytes.putLong(scopeAt, scope.presenceMask());
    scopes.bytes.putLong(scopeAt + Long.BYTES, scope.loraTaskId());
    scopes.bytes.putLong(scopeAt + 2 * Long.BYTES, scope.saltId());
    return size++;
  }

  /** Empties the batch. */
  public void clear() {
    size = 0;
    tokenCount = 0;
    hashedSize = 0;
  }

  /** {@return the number of prompts, at least 0} */
  public int size() {
    return size;
  }

  /**
   * The hashes of one prompt's full blocks, copied.
   *
   * @param prompt the prompt's index
   * @return its hashes
   * @throws IndexOutOfBoundsException if there is no such prompt or it was added after hashing
   */
  public BlockHashes hashes(int prompt) {
    Objects.checkIndex(prompt, hashedSize);
    int first = blockOffsets.bytes.getInt(prompt * Integer.BYTES);
    int blocks = blockOffsets.bytes.getInt((prompt + 1) * Integer.BYTES) - first;
    BlockHashes hashes = new BlockHashes(new long[blocks], new long[blocks]);
    local.bytes.asLongBuffer().get(first, hashes.local());
    sequence.bytes.asLongBuffer().get(first, hashes.sequence());
    return hashes;
  }

  /** Hashes all prompts. The hashes stay valid until the batch is hashed again or cleared. */
  void hash(HashFormat format, int tokensPerBlock) {
    hashedSize = 0;
    blockOffsets.reserve((size + 1) * Integer.BYTES);
    int blocks = 0;
    int begin = 0;
    for (int prompt = 0; prompt < size; prompt++) {
      int end = tokenOffsets.bytes.getInt((prompt + 1) * Integer.BYTES);
      blockOffsets.bytes.putInt(prompt * Integer.BYTES, blocks);
      blocks += (end - begin) / tokensPerBlock;
      begin = end;
    }
    blockOffsets.bytes.putInt(size * Integer.BYTES, blocks);
    local.reserve(blocks * Long.BYTES);
    sequence.reserve(blocks * Long.BYTES);
    HashLibrary.kvasir_hash_prompts(
        format.nativeNumber(),
        tokensPerBlock,
        size,
        tokens.address,
        tokenOffsets.address,
        blockOffsets.address,
        scopes.address,
        local.address,
        sequence.address);
    hashedSize = size;
  }

  /** A growing array outside the heap. */
  private static final class Column {
    private static final int INITIAL_BYTES = 1024;

    private ByteBuffer bytes = NativeMemory.allocate(INITIAL_BYTES);
    private long address = NativeMemory.address(bytes);

    void reserve(int wanted) {
      if (wanted > bytes.capacity()) {
        long doubled = Math.max(wanted, Math.min(2L * bytes.capacity(), Integer.MAX_VALUE));
        ByteBuffer larger = NativeMemory.allocate((int) doubled);
        larger.put(0, bytes, 0, bytes.capacity());
        bytes = larger;
        address = NativeMemory.address(larger);
      }
    }
  }
}
