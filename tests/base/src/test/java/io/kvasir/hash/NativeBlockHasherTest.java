package io.kvasir.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.model.CacheScope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class NativeBlockHasherTest {

  private static final int ROUNDS = 300;

  @ParameterizedTest
  @EnumSource
  void equalsOracleOnRandomPrompts(HashFormat format) {
    forRandomCases(
        format,
        (random, hasher, tokens, scope) ->
            assertSame(
                hasher.hash(tokens, scope),
                HashOracle.hash(format, hasher.tokensPerBlock(), tokens, scope)));
  }

  @ParameterizedTest
  @EnumSource
  void continuingAChainEqualsHashingItWhole(HashFormat format) {
    forRandomCases(
        format,
        (random, hasher, tokens, scope) -> {
          BlockHashes whole = hasher.hash(tokens, scope);
          BlockHashes parts = new BlockHashes(new long[whole.blocks()], new long[whole.blocks()]);
          for (int from = 0; from < whole.blocks(); ) {
            int to = from + 1 + random.nextInt(whole.blocks() - from);
            hasher.hashBlocks(scope, tokens, from, to, parts.local(), parts.sequence());
            from = to;
          }
          assertSame(parts, whole);
        });
  }

  @ParameterizedTest
  @EnumSource
  void onlyTheRangeIsWritten(HashFormat format) {
    forRandomCases(
        format,
        (random, hasher, tokens, scope) -> {
          BlockHashes whole = hasher.hash(tokens, scope);
          int to = random.nextInt(whole.blocks() + 1);
          int from = random.nextInt(to + 1);
          long[] local = new long[whole.blocks() + 3];
          long[] sequence = Arrays.copyOf(whole.sequence(), whole.blocks() + 3);
          Arrays.fill(sequence, from, sequence.length, 0);
          hasher.hashBlocks(scope, tokens, from, to, local, sequence);
          for (int i = 0; i < local.length; i++) {
            boolean inRange = i >= from && i < to;
            assertThat(local[i]).isEqualTo(inRange ? whole.local()[i] : 0);
            assertThat(sequence[i]).isEqualTo(i < to ? whole.sequence()[i] : 0);
          }
        });
  }

  @ParameterizedTest
  @EnumSource
  void scopesNeverShareAName(HashFormat format) {
    List<CacheScope> scopes = new ArrayList<>();
    long[] ids = {0, 1, 2, 42, 1337, -1, Xxh3.loraTaskId("a"), CacheScope.saltId("a")};
    scopes.add(CacheScope.NONE);
    for (long id : ids) {
      scopes.add(new CacheScope(true, id, false, 0));
      scopes.add(new CacheScope(false, 0, true, id));
      for (long salt : ids) {
        scopes.add(new CacheScope(true, id, true, salt));
      }
    }
    int[] tokens = IntStream.range(0, 64).toArray();
    Set<Long> names = new HashSet<>();
    for (CacheScope scope : scopes) {
      for (long name : NativeBlockHasher.of(format, 16).hash(tokens, scope).sequence()) {
        assertThat(names.add(name)).as("%s", scope).isTrue();
      }
    }
    assertThat(names).hasSize(4 * scopes.size());
  }

  @Test
  void aChainOfLocalHashesFromTheRootGivesTheSequenceHashes() {
    forRandomCases(
        HashFormat.KVASIR,
        (random, hasher, tokens, scope) -> {
          BlockHashes hashes = hasher.hash(tokens, scope);
          long[] chained = new long[hashes.blocks()];
          long parent = NativeBlockHasher.root(scope);
          for (int i = 0; i < chained.length; i++) {
            parent = HashOracle.kvasirMix(parent, hashes.local()[i]);
            chained[i] = parent;
          }
          assertThat(chained).containsExactly(hashes.sequence());
        });
  }

  @Test
  void aPartialLastBlockHasNoHash() {
    for (int tokensPerBlock : new int[] {11, 32, 64}) {
      NativeBlockHasher hasher = NativeBlockHasher.of(HashFormat.DYNAMO, tokensPerBlock);
      assertThat(hasher.hash(new int[0], CacheScope.NONE).blocks()).isZero();
      assertThat(hasher.hash(new int[tokensPerBlock - 1], CacheScope.NONE).blocks()).isZero();
      assertThat(hasher.hash(new int[tokensPerBlock], CacheScope.NONE).blocks()).isOne();
      assertThat(hasher.hash(new int[tokensPerBlock + 1], CacheScope.NONE).blocks()).isOne();
      assertThat(hasher.hash(new int[2 * tokensPerBlock + 1], CacheScope.NONE).blocks())
          .isEqualTo(2);
    }
  }

  @Test
  void rangesOutsideAnArrayAreRefused() {
    NativeBlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, 16);
    int[] tokens = new int[64];
    assertRefused(hasher, tokens, -1, 1, 4, 4);
    assertRefused(hasher, tokens, 2, 1, 4, 4);
    assertRefused(hasher, tokens, 0, 5, 8, 8);
    assertRefused(hasher, tokens, 0, 4, 3, 4);
    assertRefused(hasher, tokens, 0, 4, 4, 3);
    assertRefused(hasher, tokens, Integer.MAX_VALUE - 1, Integer.MAX_VALUE, 4, 4);
    assertRefused(hasher, new int[63], 0, 4, 4, 4);
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(() -> TrtllmBlockKeys.ofBlock(tokens, -1, 3, 0, CacheScope.NONE));
  }

  @Test
  void blockSizeMustBePositive() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> NativeBlockHasher.of(HashFormat.KVASIR, 0))
        .withMessage("tokensPerBlock must be at least 1, not 0");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TrtllmBlockKeys.ofPrompt(new int[3], -1, CacheScope.NONE));
  }

  @Test
  void formatsAreKnownByName() {
    for (HashFormat format : HashFormat.values()) {
      assertThat(HashFormat.parse(format.id())).isEqualTo(format);
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> HashFormat.parse("Kvasir"))
        .withMessage("hash format must be one of kvasir, dynamo, trtllm-v1, not 'Kvasir'");
  }

  @Test
  void trtllmPromptKeysChainFullAndPartialBlocks() {
    for (int round = 0; round < ROUNDS; round++) {
      Random random = new Random(round);
      int[] prompt = randomTokens(random);
      CacheScope scope = randomScope(random);
      int tokensPerBlock = 1 + random.nextInt(70);
      long[] keys = TrtllmBlockKeys.ofPrompt(prompt, tokensPerBlock, scope);
      long parent = TrtllmBlockKeys.ROOT_PARENT;
      int hashable = Math.max(0, prompt.length - 1);
      assertThat(keys).hasSize((hashable + tokensPerBlock - 1) / tokensPerBlock);
      for (int i = 0; i < keys.length; i++) {
        int from = i * tokensPerBlock;
        int to = Math.min(from + tokensPerBlock, hashable);
        long expected = HashOracle.trtllmKey(Arrays.copyOfRange(prompt, from, to), parent, scope);
        assertThat(keys[i]).as("seed %d, block %d", round, i).isEqualTo(expected);
        assertThat(TrtllmBlockKeys.ofBlock(prompt, from, to, parent, scope)).isEqualTo(expected);
        parent = expected;
      }
    }
  }

  private static void assertRefused(
      NativeBlockHasher hasher, int[] tokens, int from, int to, int locals, int sequences) {
    assertThatExceptionOfType(IndexOutOfBoundsException.class)
        .isThrownBy(
            () ->
                hasher.hashBlocks(
                    CacheScope.NONE, tokens, from, to, new long[locals], new long[sequences]));
  }

  private static void assertSame(BlockHashes actual, BlockHashes expected) {
    assertThat(actual.local()).containsExactly(expected.local());
    assertThat(actual.sequence()).containsExactly(expected.sequence());
  }

  private interface RandomCase {
    void run(Random random, NativeBlockHasher hasher, int[] tokens, CacheScope scope);
  }

  private static void forRandomCases(HashFormat format, RandomCase body) {
    for (int seed = 0; seed < ROUNDS; seed++) {
      Random random = new Random(seed);
      NativeBlockHasher hasher = randomHasher(format, random);
      int[] tokens = randomTokens(random);
      CacheScope scope = randomScope(random);
      try {
        body.run(random, hasher, tokens, scope);
      } catch (AssertionError e) {
        throw new AssertionError(
            "seed " + seed + ", " + hasher.tokensPerBlock() + " tokens a block, " + scope, e);
      }
    }
  }

  private static NativeBlockHasher randomHasher(HashFormat format, Random random) {
    int tokensPerBlock = random.nextBoolean() ? 16 << random.nextInt(4) : 1 + random.nextInt(90);
    return NativeBlockHasher.of(format, tokensPerBlock);
  }

  private static int[] randomTokens(Random random) {
    return random.ints(random.nextInt(700)).toArray();
  }

  private static CacheScope randomScope(Random random) {
    boolean hasLora = random.nextBoolean();
    boolean hasSalt = random.nextBoolean();
    return new CacheScope(
        hasLora, hasLora ? random.nextInt(3) : 0, hasSalt, hasSalt ? random.nextLong() : 0);
  }
}
