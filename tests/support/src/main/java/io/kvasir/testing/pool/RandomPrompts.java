package io.kvasir.testing.pool;

import io.kvasir.engine.pool.PoolShape;
import io.kvasir.model.CacheScope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * Generates sequences that share prefixes of any length with earlier ones, in few scopes and over
 * few tokens. Keeps the latest of them. Not thread-safe.
 */
public final class RandomPrompts {

  private static final int REMEMBERED = 48;
  private static final int[] ALPHABET = {0, 1, -1};
  private static final List<CacheScope> SCOPES =
      List.of(
          CacheScope.NONE,
          CacheScope.NONE.withLora(0),
          CacheScope.NONE.withLora(7),
          CacheScope.NONE.withSalt("tenant"),
          CacheScope.NONE.withSalt("tenant").withLora(7));

  private final RandomGenerator random;
  private final TestHash hash;
  private final PoolShape shape;
  private final List<Prompt> known = new ArrayList<>();

  /**
   * Creates a source without known sequences.
   *
   * @param random source of randomness
   * @param hash hashes the blocks
   * @param shape of the pool that the prompts are for
   */
  public RandomPrompts(RandomGenerator random, TestHash hash, PoolShape shape) {
    this.random = random;
    this.hash = hash;
    this.shape = shape;
  }

  /**
   * The latest sequences, each long enough for a lease to grow into.
   *
   * @return a live view
   */
  public List<Prompt> known() {
    return known;
  }

  /**
   * Generates a sequence, or repeats a known one.
   *
   * @return the sequence
   */
  public Prompt next() {
    if (!known.isEmpty() && random.nextInt(4) == 0) {
      return known.get(random.nextInt(known.size()));
    }
    int[] tokens = new int[1 + random.nextInt(shape.maxBlocksPerLease() * shape.tokensPerBlock())];
    int kept = 0;
    CacheScope scope = SCOPES.get(random.nextInt(SCOPES.size()));
    if (!known.isEmpty() && random.nextInt(8) != 0) {
      Prompt base = known.get(random.nextInt(known.size()));
      kept = random.nextInt(1 + Math.min(tokens.length, base.tokens().length));
      System.arraycopy(base.tokens(), 0, tokens, 0, kept);
      scope = random.nextInt(8) == 0 ? scope : base.scope();
    }
    for (int i = kept; i < tokens.length; i++) {
      tokens[i] = ALPHABET[random.nextInt(ALPHABET.length)];
    }
    Prompt prompt = hash.prompt(tokens, scope, shape.tokensPerBlock());
    if (known.size() == REMEMBERED) {
      known.remove(random.nextInt(REMEMBERED));
    }
    known.add(prompt);
    return prompt;
  }

  /**
   * Copies the minimum of a prompt that a caller must provide.
   *
   * @param prompt the prompt to copy
   * @param blocks number of its blocks to copy
   * @param tokensPerBlock tokens of a block
   * @return a prompt with arrays of its own
   */
  public static Prompt copy(Prompt prompt, int blocks, int tokensPerBlock) {
    return new Prompt(
        Arrays.copyOf(prompt.tokens(), blocks * tokensPerBlock),
        Arrays.copyOf(prompt.names(), blocks),
        prompt.scope());
  }
}
