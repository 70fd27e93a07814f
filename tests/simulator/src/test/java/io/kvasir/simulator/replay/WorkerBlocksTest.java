package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.trtllm.CacheEvent;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WorkerBlocksTest {

  private final WorkerBlocks blocks = new WorkerBlocks(2);
  private final long[] next = new long[2];

  private void stored(int rank, long block) {
    blocks.on(rank, new BlockEvent.Stored(next[rank]++, block, 0, 0));
  }

  private void removed(int rank, long block) {
    blocks.on(rank, new BlockEvent.Removed(next[rank]++, block));
  }

  private List<String> told() {
    return blocks.take().stream().map(WorkerBlocksTest::words).toList();
  }

  private static String words(CacheEvent event) {
    if (event instanceof CacheEvent.Stored stored) {
      return "stored " + LongStream.of(stored.keys()).boxed().toList();
    }
    return "removed " + LongStream.of(((CacheEvent.Removed) event).keys()).boxed().toList();
  }

  @Test
  void aBlockIsHeldFromTheFirstRankThatHoldsItToTheLast() {
    stored(0, 1);
    stored(0, 2);
    stored(1, 1);
    assertThat(told()).containsExactly("stored [1, 2]");
    removed(0, 1);
    assertThat(told()).isEmpty();
    removed(1, 1);
    stored(1, 3);
    removed(0, 2);
    assertThat(told()).containsExactly("removed [1]", "stored [3]", "removed [2]");
  }

  @Test
  void aRankThatForgetsTakesAwayWhatOnlyItHeld() {
    stored(0, 1);
    stored(1, 1);
    stored(0, 2);
    told();
    blocks.on(0, new BlockEvent.Cleared(next[0]++));
    assertThat(told()).containsExactly("removed [2]");
    blocks.clear(1);
    assertThat(told()).containsExactly("removed [1]");
    stored(0, 1);
    assertThat(told()).containsExactly("stored [1]");
  }

  @Test
  void lostEventsAreADefect() {
    assertThatIllegalStateException()
        .isThrownBy(() -> blocks.on(1, new BlockEvent.Removed(1, 5)))
        .withMessage("events of rank 1 are lost before number 1");
  }

  @Test
  void whatIsToldIsWhatSomeRankHolds() {
    long seed = Long.getLong("kvasir.test.seed", System.nanoTime());
    SplittableRandom random = new SplittableRandom(seed);
    List<Set<Long>> held = List.of(new HashSet<>(), new HashSet<>());
    Set<Long> known = new HashSet<>();
    for (int step = 0; step < 5_000; step++) {
      int rank = random.nextInt(2);
      long block = random.nextInt(20);
      if (held.get(rank).add(block)) {
        stored(rank, block);
      } else {
        held.get(rank).remove(block);
        removed(rank, block);
      }
      if (random.nextInt(4) == 0) {
        for (CacheEvent event : blocks.take()) {
          if (event instanceof CacheEvent.Stored stored) {
            LongStream.of(stored.keys())
                .forEach(key -> assertThat(known.add(key)).as("seed %s", seed).isTrue());
          } else {
            LongStream.of(((CacheEvent.Removed) event).keys())
                .forEach(key -> assertThat(known.remove(key)).as("seed %s", seed).isTrue());
          }
        }
        Set<Long> all = new HashSet<>(held.get(0));
        all.addAll(held.get(1));
        assertThat(known).as("seed %s", seed).isEqualTo(all);
      }
    }
  }
}
