package io.kvasir.hash;

import io.kvasir.model.CacheScope;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * TensorRT-LLM's {@code v2_sha256} block keys of prompts: chained SHA-256 digests and their 64-bit
 * short form. Like {@link TrtllmBlockKeys}, they exclude a prompt's last token and include a
 * partial last block.
 *
 * <p>The root is the digest of the scope: one byte whose bit 0 marks a LoRA adapter and bit 1 a
 * salt, followed by the ids that are present as 64-bit little-endian numbers. A block's key is the
 * digest of its parent's key and its tokens as 32-bit little-endian numbers.
 *
 * <p>{@link CacheScope#saltId(String)} derives salt ids from SHA-256, as current engines do. Older
 * engines use BLAKE3, which is not supported: they do not hash blocks with SHA-256 either. A salt
 * id of an older engine can be set in a scope as a number.
 *
 * <p>Thread-safe and stateless.
 */
public final class TrtllmSha256Keys {

  /** Bytes of a digest. */
  public static final int DIGEST_BYTES = 32;

  private TrtllmSha256Keys() {}

  /**
   * The parent of a prompt's first block.
   *
   * @param scope LoRA adapter and salt
   * @return its digest
   */
  public static byte[] root(CacheScope scope) {
    return root(sha256(), scope);
  }

  /**
   * The digests of a prompt's blocks. O(tokens).
   *
   * @param prompt the prompt's tokens
   * @param tokensPerBlock tokens in a full block, at least 1
   * @param scope LoRA adapter and salt
   * @return {@link TrtllmBlockKeys#promptBlocks} digests, concatenated
   * @throws IllegalArgumentException if {@code tokensPerBlock} is out of range
   */
  public static byte[] ofPrompt(int[] prompt, int tokensPerBlock, CacheScope scope) {
    int blocks = TrtllmBlockKeys.promptBlocks(prompt.length, tokensPerBlock);
    ByteBuffer digests = ByteBuffer.allocate(Math.multiplyExact(blocks, DIGEST_BYTES));
    int longest = Math.min(tokensPerBlock, prompt.length);
    ByteBuffer tokens =
        ByteBuffer.allocate(Math.multiplyExact(longest, Integer.BYTES))
            .order(ByteOrder.LITTLE_ENDIAN);
    MessageDigest sha256 = sha256();
    byte[] parent = root(sha256, scope);
    for (int block = 0; block < blocks; block++) {
      int from = block * tokensPerBlock;
      int count = Math.min(tokensPerBlock, prompt.length - 1 - from);
      tokens.clear().asIntBuffer().put(prompt, from, count);
      sha256.update(parent);
      sha256.update(tokens.array(), 0, count * Integer.BYTES);
      parent = sha256.digest();
      digests.put(parent);
    }
    return digests.array();
  }

  /**
   * The short form of a digest, {@code v2_sha256_64}: its first eight bytes, big-endian. Keys are
   * chained by whole digests, never by their short forms.
   *
   * @param digests concatenated digests
   * @param index index of the digest
   * @return an unsigned 64-bit number
   * @throws IndexOutOfBoundsException if there is no such digest
   */
  public static long shortForm(byte[] digests, int index) {
    return ByteBuffer.wrap(digests).getLong(index * DIGEST_BYTES);
  }

  private static byte[] root(MessageDigest sha256, CacheScope scope) {
    ByteBuffer bytes =
        ByteBuffer.allocate(1 + 2 * Long.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN)
            .put((byte) scope.presenceMask());
    if (scope.hasLora()) {
      bytes.putLong(scope.loraTaskId());
    }
    if (scope.hasSalt()) {
      bytes.putLong(scope.saltId());
    }
    sha256.update(bytes.flip());
    return sha256.digest();
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
