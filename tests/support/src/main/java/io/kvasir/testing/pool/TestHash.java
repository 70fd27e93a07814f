package io.kvasir.testing.pool;

import io.kvasir.model.CacheScope;

/** Block hashes for random tests: strong, or weak enough to collide. */
public enum TestHash {
  /** 64 strong bits; no collision in practice. */
  STRONG {
    @Override
    public long local(int[] tokens, int from, int to) {
      return content(tokens, from, to);
    }

    @Override
    public long root(CacheScope scope) {
      return mix(mix(mix(scope.presenceMask()) + scope.loraTaskId()) + scope.saltId());
    }
  },
  /**
   * Two bits per block without the scope, but chained well: a collision affects all later blocks.
   */
  WEAK_BLOCKS {
    @Override
    public long local(int[] tokens, int from, int to) {
      return content(tokens, from, to) & 3;
    }

    @Override
    public long root(CacheScope scope) {
      return 0;
    }
  },
  /** Eight bits of the whole sequence hash: any two blocks may collide, even parent and child. */
  WEAK_NAMES {
    @Override
    public long local(int[] tokens, int from, int to) {
      return content(tokens, from, to);
    }

    @Override
    public long root(CacheScope scope) {
      return STRONG.root(scope);
    }

    @Override
    public long name(long chained) {
      return chained & 0xf00000000000000fL;
    }
  };

  /**
   * Hash of one block's tokens.
   *
   * @param tokens the sequence
   * @param from first token of the block
   * @param to end of the block
   * @return the hash
   */
  public abstract long local(int[] tokens, int from, int to);

  /**
   * The start of the chain.
   *
   * @param scope of the sequence
   * @return the first hash
   */
  public abstract long root(CacheScope scope);

  /**
   * Converts a chained hash to a sequence hash.
   *
   * @param chained the hash
   * @return the sequence hash
   */
  public long name(long chained) {
    return chained;
  }

  /**
   * Hashes the full blocks of a sequence.
   *
   * @param tokens the sequence
   * @param scope its scope
   * @param tokensPerBlock tokens of a full block
   * @return the prompt, with these tokens
   */
  public Prompt prompt(int[] tokens, CacheScope scope, int tokensPerBlock) {
    long[] names = new long[tokens.length / tokensPerBlock];
    long chained = root(scope);
    for (int i = 0; i < names.length; i++) {
      chained =
          mix(chained + 31 * mix(local(tokens, i * tokensPerBlock, (i + 1) * tokensPerBlock)));
      names[i] = name(chained);
    }
    return new Prompt(tokens, names, scope);
  }

  private static long content(int[] tokens, int from, int to) {
    long hash = 1;
    for (int i = from; i < to; i++) {
      hash = mix(hash + tokens[i]);
    }
    return hash;
  }

  /**
   * A bijection in which every input bit changes about half of the output bits.
   *
   * @param value any bits
   * @return the mixed bits
   */
  public static long mix(long value) {
    long z = value + 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
