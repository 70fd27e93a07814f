package io.kvasir.fleet.router;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HashedPromptsTest {

  private static final int MIB = 1 << 20;
  private static final int PROMPT = 40_000;

  /** Counts the blocks that are hashed. */
  private static final class CountingHasher implements BlockHasher {

    private final BlockHasher hasher;
    int blocks;

    CountingHasher(HashFormat format, int tokensPerBlock) {
      this.hasher = NativeBlockHasher.of(format, tokensPerBlock);
    }

    @Override
    public HashFormat format() {
      return hasher.format();
    }

    @Override
    public int tokensPerBlock() {
      return hasher.tokensPerBlock();
    }

    @Override
    public void hashBlocks(
        CacheScope scope, int[] tokens, int from, int to, long[] local, long[] sequence) {
      blocks += to - from;
      hasher.hashBlocks(scope, tokens, from, to, local, sequence);
    }
  }

  private static void assertSame(BlockHashes found, BlockHashes expected, Object what) {
    assertThat(found.local()).as("%s", what).isEqualTo(expected.local());
    assertThat(found.sequence()).as("%s", what).isEqualTo(expected.sequence());
  }

  /** Prompts that grow, shrink and change, under few names, so that names are wrong as well. */
  @Test
  void theHashesAreThoseOfTheWholePrompt() {
    long seed = 351;
    Random random = new Random(seed);
    HashedPrompts prompts = new HashedPrompts(MIB);
    HashFormat[] formats = HashFormat.values();
    int[] prompt = random.ints(2 * HashedPrompts.LEAST_TOKENS, 0, 9).toArray();
    for (int i = 0; i < 4000; i++) {
      int length = HashedPrompts.LEAST_TOKENS - 50 + random.nextInt(3000);
      int[] next = Arrays.copyOf(prompt, length);
      for (int changes = random.nextInt(3); changes > 0; changes--) {
        next[random.nextInt(length)] = random.nextInt(9);
      }
      BlockHasher hasher =
          NativeBlockHasher.of(
              formats[random.nextInt(formats.length)],
              new int[] {1, 16, 33, 64}[random.nextInt(4)]);
      CacheScope scope =
          random.nextInt(4) > 0 ? CacheScope.NONE : CacheScope.NONE.withLora(random.nextInt(2));
      String conversation = random.nextInt(9) == 0 ? null : "c" + random.nextInt(3);
      assertSame(
          prompts.hash(hasher, conversation, next, scope),
          hasher.hash(next, scope),
          "seed " + seed + ", prompt " + i);
      prompt = next;
    }
  }

  @Test
  void aTurnHashesItsOwnBlocksOnly() {
    HashedPrompts prompts = new HashedPrompts(MIB);
    CountingHasher hasher = new CountingHasher(HashFormat.KVASIR, 16);
    int[] turn = new Random(352).ints(PROMPT, 0, 150_000).toArray();
    BlockHashes first = prompts.hash(hasher, "c", turn, CacheScope.NONE);
    assertThat(hasher.blocks).isEqualTo(PROMPT / 16);

    assertThat(prompts.hash(hasher, "c", turn.clone(), CacheScope.NONE)).isSameAs(first);
    for (int i = 1; i <= 10; i++) {
      turn = Arrays.copyOf(turn, turn.length + 200);
      assertThat(prompts.hash(hasher, "c", turn, CacheScope.NONE).blocks())
          .isEqualTo(turn.length / 16);
    }
    assertThat(hasher.blocks).isEqualTo((PROMPT + 2000) / 16);

    prompts.hash(hasher, "c", turn, CacheScope.NONE.withLora(1));
    assertThat(hasher.blocks).as("another scope").isEqualTo(2 * ((PROMPT + 2000) / 16));
  }

  @Test
  void theConversationsUsedLastAreKeptWithinTheBound() {
    HashedPrompts prompts = new HashedPrompts(MIB);
    CountingHasher hasher = new CountingHasher(HashFormat.KVASIR, 16);
    int[] prompt = new int[PROMPT];
    for (int i = 0; i < 6; i++) { // five fit
      prompts.hash(hasher, "c0", prompt, CacheScope.NONE);
      prompts.hash(hasher, "c" + i, prompt, CacheScope.NONE);
    }
    hasher.blocks = 0;
    prompts.hash(hasher, "c0", prompt, CacheScope.NONE);
    prompts.hash(hasher, "c5", prompt, CacheScope.NONE);
    assertThat(hasher.blocks).isZero();
    prompts.hash(hasher, "c1", prompt, CacheScope.NONE);
    assertThat(hasher.blocks).as("the one used least").isEqualTo(PROMPT / 16);
    prompts.hash(hasher, "large", new int[10 * PROMPT], CacheScope.NONE);
    prompts.hash(hasher, "large", new int[10 * PROMPT], CacheScope.NONE);
    assertThat(hasher.blocks).as("one beyond the bound").isEqualTo(21 * (PROMPT / 16));
    prompts.hash(hasher, "c5", prompt, CacheScope.NONE);
    assertThat(hasher.blocks).as("the others stay").isEqualTo(21 * (PROMPT / 16));
  }
}
