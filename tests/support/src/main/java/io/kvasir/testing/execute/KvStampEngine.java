package io.kvasir.testing.execute;

import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.StepPlan;
import io.kvasir.engine.pool.BlockPool;
import java.util.Arrays;

/**
 * Verifies KV reuse: it writes recognisable words as KV and derives every output token from all of
 * them.
 *
 * <p>Its memory has one word for each block, token in the block and layer. The word of a computed
 * position mixes its token, its position, its layer, the word of the previous position (read
 * through the block table; the request's scope precedes the first position) and the word of the
 * layer below. Like in a transformer, a word therefore depends on the whole prefix and on nothing
 * else. A step writes only its own positions; reused ones are read in place. An output token folds
 * the words of the request's whole sequence through its block table, so a stale, foreign or
 * misplaced block changes the output. {@link CudaKvStampEngine} does the same on a device.
 *
 * <p>An output token costs O(sequence x layers). Confined to the rank's executor thread.
 */
public final class KvStampEngine implements StepEngine {

  /** The reported duration of a step. */
  static final long STEP_NS = 1_000_000;

  /** Initial value of words that were never written. */
  private static final long NEVER_WRITTEN = 0xdeadbeefdeadbeefL;

  private final BlockPool pool;
  private final int layers;
  private final int vocabulary;
  private final int tokensPerBlock;
  private final long[] kv;
  private final int[] table;

  /**
   * Creates an engine with memory for all blocks of a pool.
   *
   * @param pool the rank's pool; only its block tables are read
   * @param layers words per token
   * @param vocabulary upper bound of token ids, exclusive
   * @throws IllegalArgumentException if a number is less than 1
   * @throws ArithmeticException if the memory would not fit into one array
   */
  public KvStampEngine(BlockPool pool, int layers, int vocabulary) {
    if (layers < 1 || vocabulary < 1) {
      throw new IllegalArgumentException(
          "layers and vocabulary must be at least 1, not " + layers + ", " + vocabulary);
    }
    this.pool = pool;
    this.layers = layers;
    this.vocabulary = vocabulary;
    this.tokensPerBlock = pool.shape().tokensPerBlock();
    int words = Math.multiplyExact(pool.shape().capacityBlocks(), tokensPerBlock);
    this.kv = new long[Math.multiplyExact(words, layers)];
    Arrays.fill(kv, NEVER_WRITTEN);
    this.table = new int[pool.shape().maxBlocksPerLease()];
  }

  /** Runs the step; every step reports one millisecond. */
  @Override
  public long step(StepPlan plan) {
    for (int i = 0; i < plan.size(); i++) {
      pool.blockTable(plan.lease(i), table);
      int from = plan.contextTokens(i);
      int to = from + plan.newTokens(i);
      long root = KvStampWords.scope(plan.scope(i));
      for (int layer = 0; layer < layers; layer++) {
        compute(plan.tokens(i), from, to, layer, root);
      }
      if (plan.producesToken(i)) {
        plan.produce(i, KvStampWords.below(fold(to), vocabulary));
      }
    }
    return STEP_NS;
  }

  private void compute(int[] tokens, int from, int to, int layer, long root) {
    for (int position = from; position < to; position++) {
      int word = word(position, layer);
      long mixed = position == 0 ? root : kv[word(position - 1, layer)];
      mixed = KvStampWords.mix(mixed + tokens[position]);
      mixed = KvStampWords.mix(mixed + KvStampWords.GOLDEN * position);
      mixed = KvStampWords.mix(mixed + layer);
      kv[word] = layer == 0 ? mixed : KvStampWords.mix(mixed ^ kv[word - 1]);
    }
  }

  private long fold(int length) {
    long folded = length;
    for (int position = 0; position < length; position++) {
      int first = word(position, 0);
      for (int layer = 0; layer < layers; layer++) {
        folded = KvStampWords.mix(folded * KvStampWords.GOLDEN + kv[first + layer]);
      }
    }
    return folded;
  }

  /** Index of a word; the layers of one position are contiguous. */
  private int word(int position, int layer) {
    int block = table[position / tokensPerBlock];
    return (block * tokensPerBlock + position % tokensPerBlock) * layers + layer;
  }
}
