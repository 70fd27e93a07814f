package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.LongRuns;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random histories, applied to each index and to the naive one. A failure prints its seed; {@code
 * -Dkvasir.test.seed} repeats one.
 */
class PrefixIndexDifferentialTest {

  private static final int OPERATIONS = LongRuns.cases(20_000, 500_000);
  private static final int PER_RUN = 5_000;

  static Stream<Named<Function<HashFormat, PrefixIndex>>> indexes() {
    return Stream.of(
        Named.of("naive", NaiveIndex::new),
        Named.of("native", format -> new NativePrefixIndex(format, 4, Long.MAX_VALUE)));
  }

  @ParameterizedTest
  @MethodSource("indexes")
  void agreesWithTheNaiveIndex(Function<HashFormat, PrefixIndex> index) {
    Long given = Long.getLong("kvasir.test.seed");
    Random seeds = new Random(0x6b7661736972L);
    for (int done = 0; done < OPERATIONS; done += PER_RUN) {
      run(index, given != null ? given : seeds.nextLong());
      if (given != null) {
        return;
      }
    }
  }

  private static void run(Function<HashFormat, PrefixIndex> index, long seed) {
    Random random = new Random(~seed);
    HashFormat[] formats = {
      HashFormat.KVASIR, HashFormat.KVASIR, HashFormat.DYNAMO, HashFormat.TRTLLM_V1
    };
    HashFormat format = formats[random.nextInt(formats.length)];
    RandomChains.Handles[] kinds = RandomChains.Handles.values();
    RandomChains.Handles handles = kinds[random.nextInt(kinds.length)];
    try (PrefixIndex subject = index.apply(format)) {
      new RandomIndexRun(subject, format, handles, seed).run(PER_RUN);
    }
  }

  /** Faults injected into an index. */
  private enum Mistake {
    SEES_PAST_HOLES,
    STOPS_AT_THE_LAST_HOLDER,
    IGNORES_REBINDING,
    CLEARS_THE_WHOLE_WORKER,
    KNOWS_SIXTY_FOUR_RANKS
  }

  /** The comparison must detect every fault. */
  @ParameterizedTest
  @EnumSource
  void findsEveryMistake(Mistake mistake) {
    assertThatThrownBy(
            () -> {
              Random seeds = new Random(5);
              for (int i = 0; i < 12; i++) {
                run(format -> new MistakenIndex(format, mistake), seeds.nextLong());
              }
            })
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("-Dkvasir.test.seed=");
  }

  /** A naive index with one fault. */
  private static final class MistakenIndex extends NaiveIndex {

    private final Mistake mistake;

    MistakenIndex(HashFormat format, Mistake mistake) {
      super(format);
      this.mistake = mistake;
    }

    @Override
    public synchronized ChangeStatus apply(RankId rank, BlockEvent event) {
      if (mistake == Mistake.CLEARS_THE_WHOLE_WORKER && event instanceof BlockEvent.Cleared) {
        super.apply(new RankId(rank.workerId(), rank.dpRank() ^ 1), event);
      }
      if (mistake == Mistake.IGNORES_REBINDING
          && event instanceof BlockEvent.Stored stored
          && Arrays.stream(stored.handles()).anyMatch(handle -> names(rank, handle))) {
        return ChangeStatus.APPLIED;
      }
      return super.apply(rank, event);
    }

    @Override
    public synchronized void match(long[] sequence, int blocks, RankMatches matches) {
      RankMatches found = new RankMatches();
      super.match(sequence, blocks, found);
      matches.clear();
      for (int i = 0; i < found.size(); i++) {
        int held = found.blocks(i);
        boolean lone = mistake == Mistake.STOPS_AT_THE_LAST_HOLDER && found.size() == 1;
        if (mistake == Mistake.SEES_PAST_HOLES) {
          for (int behind = held; behind < blocks; behind++) {
            held = holds(found.rank(i), sequence[behind]) ? behind + 1 : held;
          }
        }
        if (mistake != Mistake.KNOWS_SIXTY_FOUR_RANKS || i < 64) {
          matches.add(found.rank(i), lone ? 1 : held);
        }
      }
    }
  }
}
