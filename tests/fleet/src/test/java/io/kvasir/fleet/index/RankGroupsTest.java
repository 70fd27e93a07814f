package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.BlockEvent.GroupStored;
import io.kvasir.event.BlockEvent.Repeats;
import io.kvasir.event.BlockEvent.Stored;
import io.kvasir.event.CacheGroup;
import io.kvasir.event.CacheGroup.Kind;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RankGroupsTest {

  private static final long SEED = Long.getLong("kvasir.test.seed", 11);
  private static final RankId A = new RankId(1, 0);
  private static final RankId B = new RankId(2, 0);
  private static final int BLOCKS = 40;
  private static final List<Kind> KINDS = List.of(Kind.FULL, Kind.WINDOW, Kind.STATE);

  /** The engine's hashes of a prompt's blocks, which are their local hashes too. */
  private static final long[] PROMPT = LongStream.rangeClosed(1, BLOCKS).toArray();

  private final NativePrefixIndex index = new NativePrefixIndex(HashFormat.KVASIR, 4, 8 << 20);

  @AfterEach
  void close() {
    index.close();
  }

  private static CacheGroup group(int number, Kind kind, int blocks) {
    return new CacheGroup(number, kind, blocks);
  }

  private static long[] handles(int group, long... hashes) {
    return LongStream.of(hashes).map(hash -> 1000L * group + hash).toArray();
  }

  private static GroupStored some(CacheGroup group, long... hashes) {
    return GroupStored.some(group, false, handles(group.index(), hashes), hashes, Repeats.SAME);
  }

  private static long[] names() {
    long[] names = new long[BLOCKS];
    long name = NativeBlockHasher.root(CacheScope.NONE);
    for (int i = 0; i < BLOCKS; i++) {
      name = NativeBlockHasher.chain(name, PROMPT[i]);
      names[i] = name;
    }
    return names;
  }

  private int match(RankId rank) {
    RankMatches matches = new RankMatches();
    index.match(names(), BLOCKS, matches);
    return matches.blocks(rank);
  }

  @Test
  void aChainIsTheNativeOne() {
    int[] tokens = new Random(SEED).ints(4 * BLOCKS).toArray();
    long[] local = new long[BLOCKS];
    long[] sequence = new long[BLOCKS];
    NativeBlockHasher.of(HashFormat.KVASIR, 4)
        .hashBlocks(CacheScope.NONE, tokens, 0, BLOCKS, local, sequence);
    long name = NativeBlockHasher.root(CacheScope.NONE);
    for (int i = 0; i < BLOCKS; i++) {
      name = NativeBlockHasher.chain(name, local[i]);
      assertThat(name).as("seed %d", SEED).isEqualTo(sequence[i]);
    }
  }

  /** Random parts of the prompt in each group, against the rule block by block. */
  @Test
  void aMatchIsAsLongAsAllGroupsAllow() {
    Random random = new Random(SEED);
    for (int round = 0; round < 2_000; round++) {
      index.removeRank(A);
      int main = random.nextInt(BLOCKS + 1);
      index.apply(A, Stored.root(Arrays.copyOf(PROMPT, main), Arrays.copyOf(PROMPT, main)));
      CacheGroup[] groups = new CacheGroup[1 + random.nextInt(4)];
      BitSet[] held = new BitSet[groups.length];
      for (int g = 0; g < groups.length; g++) {
        Kind kind = KINDS.get(random.nextInt(KINDS.size()));
        groups[g] = group(g + 1, kind, 1 + random.nextInt(6));
        held[g] = new BitSet();
        int of10 = random.nextInt(11);
        for (int i = 0; i < BLOCKS; i++) {
          held[g].set(i, random.nextInt(10) < of10 || random.nextInt(40) == 0);
        }
        held[g].set(0, round % 2 == 0);
        index.apply(A, some(groups[g], held[g].stream().mapToLong(i -> PROMPT[i]).toArray()));
      }
      assertThat(match(A))
          .as("seed %d, round %d", SEED, round)
          .isEqualTo(longest(main, groups, held));
    }
  }

  private static int longest(int main, CacheGroup[] groups, BitSet[] held) {
    for (int end = main; end > 0; end--) {
      boolean usable = true;
      for (int g = 0; g < groups.length; g++) {
        int first =
            switch (groups[g].kind()) {
              case FULL -> 0;
              case WINDOW -> Math.max(0, end - groups[g].blocks());
              case STATE -> end - 1;
            };
        usable &= held[g].nextClearBit(first) >= end;
      }
      if (usable) {
        return end;
      }
    }
    return 0;
  }

  @Test
  void aRankWithoutAMainGroupMatchesByItsOthers() {
    CacheGroup window = group(0, Kind.WINDOW, 2);
    index.apply(
        A, new GroupStored(window, true, 0, 0, handles(1, PROMPT), PROMPT, PROMPT, Repeats.SAME));
    assertThat(match(A)).isEqualTo(BLOCKS);
    assertThat(index.handles(A)).isEqualTo(BLOCKS);
    index.apply(A, new BlockEvent.GroupRemoved(0, handles(1, PROMPT[BLOCKS - 3])));
    index.apply(A, new BlockEvent.GroupRemoved(0, handles(1, PROMPT[BLOCKS - 1])));
    assertThat(match(A)).isEqualTo(BLOCKS - 3);
    index.setVisible(A, false);
    assertThat(match(A)).isZero();
    index.setVisible(A, true);
    index.apply(A, new BlockEvent.Cleared());
    assertThat(match(A)).isZero();
    assertThat(match(B)).isZero();
  }

  @Test
  void aGroupThatTurnsOutToBeAnotherBeginsAnew() {
    index.apply(A, Stored.root(PROMPT, PROMPT));
    index.apply(A, some(group(1, Kind.FULL, 1), PROMPT[0], PROMPT[BLOCKS - 1]));
    assertThat(match(A)).isEqualTo(1);
    index.apply(A, some(group(1, Kind.STATE, 1), PROMPT[BLOCKS - 1]));
    assertThat(match(A)).isEqualTo(BLOCKS);
    assertThat(index.apply(A, new BlockEvent.GroupRemoved(1, handles(1, PROMPT[0]))))
        .isEqualTo(ChangeStatus.UNKNOWN_BLOCK);
  }

  @Test
  void aRankWithTooManyGroupsMatchesNothing() {
    index.apply(A, Stored.root(PROMPT, PROMPT));
    for (int g = 1; g <= RankGroups.MAX_GROUPS + 1; g++) {
      assertThat(match(A)).isEqualTo(BLOCKS);
      index.apply(A, some(group(g, Kind.FULL, 1), PROMPT));
    }
    assertThat(match(A)).isZero();
    index.removeRank(A);
    index.apply(A, Stored.root(PROMPT, PROMPT));
    assertThat(match(A)).isEqualTo(BLOCKS);
  }
}
