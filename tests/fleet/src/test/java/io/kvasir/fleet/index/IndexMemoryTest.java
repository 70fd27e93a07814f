package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.Random;
import org.junit.jupiter.api.Test;

class IndexMemoryTest {

  private static final long CAP = 4 << 20;

  @Test
  void staysWithinItsCapAndKeepsWhatIsMatched() {
    Random random = new Random(11);
    RankId hot = new RankId(1, 0);
    long[] prompt = random.longs(50).toArray();
    RankMatches matches = new RankMatches();
    long stored = 50;
    try (NativePrefixIndex index = new NativePrefixIndex(HashFormat.KVASIR, 16, CAP)) {
      index.apply(hot, BlockEvent.Stored.root(prompt, prompt));
      long[] names = NaiveIndex.chain(HashFormat.KVASIR, 0, prompt);
      for (int chain = 0; chain < 5_000; chain++) {
        long[] blocks = random.longs(100).toArray();
        RankId rank = chain % 2 == 0 ? hot : new RankId(2, 0);
        assertThat(index.apply(rank, BlockEvent.Stored.root(blocks, blocks)))
            .isEqualTo(ChangeStatus.APPLIED);
        stored += blocks.length;
        index.match(names, names.length, matches);
        assertThat(matches.blocks(hot)).isEqualTo(50);
      }
      IndexStats stats = index.stats();
      assertThat(stats.evictedMemberships()).isPositive();
      assertThat(stats.memberships() + stats.evictedMemberships()).isEqualTo(stored);
      assertThat(stats.bytes()).isLessThan(CAP + CAP / 2);
    }
  }
}
