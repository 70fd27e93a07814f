package io.kvasir.engine.pool;

import io.kvasir.model.Checks;

/**
 * The size of a model's KV. Immutable.
 *
 * @param bytesPerToken keys and values of one token in all layers, in bytes; 0 if no KV is kept
 */
public record KvShape(long bytesPerToken) {

  /** No KV memory, for engines that only model time. */
  public static final KvShape NONE = new KvShape(0);

  private static final long MAX_BYTES_PER_TOKEN = 1L << 30;

  /**
   * Checks the range.
   *
   * @throws IllegalArgumentException if it is out of range
   */
  public KvShape {
    Checks.within("bytesPerToken", bytesPerToken, 0, MAX_BYTES_PER_TOKEN);
  }

  /**
   * The KV of a model: a key and a value for each layer and head.
   *
   * @param layers attention layers, at least 1
   * @param kvHeads key and value heads of a layer on one rank, at least 1
   * @param headSize elements of a head, at least 1
   * @param elementBytes bytes of an element: 2 for bf16, 1 for fp8
   * @return the shape
   * @throws IllegalArgumentException if a number is less than 1 or the product is out of range
   */
  public static KvShape of(int layers, int kvHeads, int headSize, int elementBytes) {
    if (layers < 1 || kvHeads < 1 || headSize < 1 || elementBytes < 1) {
      throw new IllegalArgumentException(
          "layers, kvHeads, headSize and elementBytes must be at least 1, not "
              + layers
              + ", "
              + kvHeads
              + ", "
              + headSize
              + ", "
              + elementBytes);
    }
    double bytes = 2.0 * layers * kvHeads * headSize * elementBytes;
    if (bytes > MAX_BYTES_PER_TOKEN) {
      throw new IllegalArgumentException(
          "2 x layers x kvHeads x headSize x elementBytes must be at most "
              + MAX_BYTES_PER_TOKEN
              + ", not "
              + (long) bytes);
    }
    return new KvShape((long) bytes);
  }

  /**
   * KV memory of a block.
   *
   * @param tokensPerBlock tokens in a block
   * @return bytes
   */
  public long bytesPerBlock(int tokensPerBlock) {
    return bytesPerToken * tokensPerBlock;
  }
}
