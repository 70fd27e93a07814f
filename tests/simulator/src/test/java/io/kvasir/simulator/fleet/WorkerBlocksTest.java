package io.kvasir.simulator.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WorkerBlocksTest {

  private final WorkerBlocks blocks = new WorkerBlocks(2);

  private void stored(int rank, long block) {
    blocks.on(rank, BlockEvent.Stored.named(null, block));
  }

  private void removed(int rank, long block) {
    blocks.on(rank, BlockEvent.Removed.of(block));
  }

  private List<String> told() {
    return blocks.take().stream().map(WorkerBlocksTest::words).toList();
  }

  private static String words(BlockEvent event) {
    return event instanceof BlockEvent.Stored stored
        ? "stored " + Arrays.toString(stored.sequenceHashes())
        : "removed " + Arrays.toString(((BlockEvent.Removed) event).handles());
  }

  @Test
  void aBlockIsHeldFromTheFirstRankThatHoldsItToTheLast() {
    stored(0, 1);
    stored(0, 2);
    stored(1, 1);
    assertThat(told()).containsExactly("stored [1]", "stored [2]");
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
    blocks.on(0, new BlockEvent.Cleared());
    assertThat(told()).containsExactly("removed [2]");
    blocks.on(1, new BlockEvent.Cleared());
    assertThat(told()).containsExactly("removed [1]");
    stored(0, 1);
    assertThat(told()).containsExactly("stored [1]");
  }

  @Test
  void anEventIsPassedOnAsItIs() {
    BlockEvent stored = BlockEvent.Stored.namedAfter(null, 1, 2);
    blocks.on(0, stored);
    assertThat(blocks.take()).singleElement().isSameAs(stored);
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
        for (BlockEvent event : blocks.take()) {
          if (event instanceof BlockEvent.Stored stored) {
            LongStream.of(stored.handles())
                .forEach(key -> assertThat(known.add(key)).as("seed %s", seed).isTrue());
          } else {
            LongStream.of(((BlockEvent.Removed) event).handles())
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
