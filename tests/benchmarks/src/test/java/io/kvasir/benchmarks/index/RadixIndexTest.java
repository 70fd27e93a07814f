package io.kvasir.benchmarks.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.IndexStats;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The baseline must be as exact as the index that it is compared with. */
class RadixIndexTest {

  private static final int RANKS = 9;

  @Test
  void answersLikeListsOnRandomHistories() {
    long base = Long.getLong("kvasir.test.seed", 20);
    for (int history = 0; history < 60; history++) {
      long seed = base + history;
      Random random = new Random(seed);
      try (PrefixIndex radix = new RadixIndex();
          PrefixIndex listed = new ListedIndex()) {
        for (int step = 0; step < 500; step++) {
          String at = "seed " + seed + ", step " + step;
          change(random, radix, listed, at);
          long[] prompt = chain(random, random.nextInt(14));
          assertThat(matches(radix, prompt)).as(at).isEqualTo(matches(listed, prompt));
        }
        IndexStats stats = radix.stats();
        assertThat(stats.memberships()).isEqualTo(listed.stats().memberships());
        assertThat(stats.distinctBlocks()).isEqualTo(listed.stats().distinctBlocks());
        assertThat(stats.ranks()).isEqualTo(listed.stats().ranks());
      }
    }
  }

  private static void change(Random random, PrefixIndex radix, PrefixIndex listed, String at) {
    RankId rank = new RankId(random.nextInt(RANKS), 0);
    int kind = random.nextInt(100);
    if (kind == 0) {
      radix.removeRank(rank);
      listed.removeRank(rank);
    } else if (kind < 3) {
      boolean visible = random.nextBoolean();
      radix.setVisible(rank, visible);
      listed.setVisible(rank, visible);
    } else {
      BlockEvent change =
          kind == 3
              ? new BlockEvent.Cleared()
              : kind < 60 ? stored(random) : BlockEvent.Removed.of(handles(random));
      assertThat(radix.apply(rank, change)).as(at).isEqualTo(listed.apply(rank, change));
    }
  }

  private static BlockEvent stored(Random random) {
    long[] handles = handles(random);
    if (random.nextInt(3) == 0) {
      return BlockEvent.Stored.after(random.nextInt(40), handles, locals(random, handles));
    }
    if (random.nextInt(3) == 0) {
      return new BlockEvent.Stored(
          null, true, 0, 0, handles, null, chain(random, handles.length), BlockEvent.Repeats.SAME);
    }
    long rootHash = random.nextInt(8) == 0 ? 77 : 0;
    return BlockEvent.Stored.root(rootHash, handles, locals(random, handles));
  }

  /** Few handles, so that they are reused for other blocks. */
  private static long[] handles(Random random) {
    long[] handles = new long[1 + random.nextInt(9)];
    int first = random.nextInt(40);
    for (int i = 0; i < handles.length; i++) {
      handles[i] = random.nextInt(30) == 0 ? random.nextInt(40) : (first + i) % 40;
    }
    return handles;
  }

  /** Few contents, so that prompts share prefixes. */
  private static long[] locals(Random random, long[] like) {
    long[] locals = new long[like.length];
    for (int i = 0; i < locals.length; i++) {
      locals[i] = random.nextInt(6) == 0 ? 1 : 0;
    }
    return locals;
  }

  private static long[] chain(Random random, int blocks) {
    long[] hashes = locals(random, new long[blocks]);
    long root = random.nextInt(8) == 0 ? 77 : SequenceChain.ROOT;
    SequenceChain.chain(root, hashes, blocks, hashes);
    return hashes;
  }

  private static Map<RankId, Integer> matches(PrefixIndex index, long[] prompt) {
    RankMatches matches = new RankMatches();
    index.match(prompt, prompt.length, matches);
    Map<RankId, Integer> byRank = new TreeMap<>();
    for (int i = 0; i < matches.size(); i++) {
      assertThat(byRank.put(matches.rank(i), matches.blocks(i))).isNull();
    }
    return byRank;
  }

  @Test
  void givesMemoryBackWhenBlocksGo() {
    Random random = new Random(1);
    try (PrefixIndex index = new RadixIndex()) {
      RankId rank = new RankId(1, 0);
      long empty = index.stats().bytes();
      long[] handles = random.longs(10_000).toArray();
      index.apply(rank, BlockEvent.Stored.root(handles, random.longs(10_000).toArray()));
      assertThat(index.stats().bytes()).isGreaterThan(10_000L * 3 * Long.BYTES);
      index.apply(rank, BlockEvent.Removed.of(handles));
      assertThat(index.stats().bytes()).isLessThan(empty + 2_000);
      assertThat(index.stats().distinctBlocks()).isZero();
    }
  }

  @Test
  void chainsLikeTheHasher() {
    int[] tokens = new Random(2).ints(8 * 16).toArray();
    long[] local = new long[8];
    long[] sequence = new long[8];
    NativeBlockHasher.of(HashFormat.KVASIR, 16)
        .hashBlocks(CacheScope.NONE, tokens, 0, 8, local, sequence);
    SequenceChain.chain(SequenceChain.ROOT, local, 8, local);
    assertThat(local).isEqualTo(sequence);
  }
}
