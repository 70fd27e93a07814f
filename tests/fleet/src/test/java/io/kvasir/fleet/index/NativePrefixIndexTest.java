package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import io.kvasir.testing.harness.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Holds the native index to the contract, and to its promises about threads and close. */
@Tag("jdk")
class NativePrefixIndexTest extends PrefixIndexContract {

  private static final RankId RANK = new RankId(1, 0);
  private static final long[] HASHES = {11, 12, 13, 14};

  @Override
  PrefixIndex create(HashFormat format) {
    return new NativePrefixIndex(format, 4, Long.MAX_VALUE);
  }

  @Test
  void eventsInAnotherHashFormatAreRefused() {
    try (PrefixIndex index = create(HashFormat.KVASIR)) {
      assertThatThrownBy(
              () -> index.apply(RANK, BlockEvent.Stored.named(HashFormat.DYNAMO, HASHES)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "the event names its blocks in the hash format dynamo, and the index in kvasir: they"
                  + " must have one format");
      assertThat(index.apply(RANK, BlockEvent.Stored.named(HashFormat.KVASIR, HASHES)))
          .isEqualTo(ChangeStatus.APPLIED);
    }
  }

  @Test
  void hiddenRanksAreAmongAll() {
    RankId other = new RankId(1, 1);
    try (NativePrefixIndex confirmed = new NativePrefixIndex(HashFormat.KVASIR, 4, 1 << 20);
        PredictingIndex index =
            new PredictingIndex(
                confirmed,
                new ApproximateIndex(
                    new NaiveIndex(HashFormat.KVASIR), ApproximateOptions.DEFAULT, () -> 0))) {
      index.apply(RANK, BlockEvent.Stored.named(null, HASHES));
      index.apply(other, BlockEvent.Stored.named(null, HASHES[0]));
      index.setVisible(RANK, false);
      RankMatches matches = new RankMatches();
      index.match(HASHES, HASHES.length, matches);
      assertThat(matches.size()).isEqualTo(1);
      index.matchAll(HASHES, HASHES.length, matches);
      assertThat(matches.size()).isEqualTo(2);
      assertThat(matches.blocks(RANK)).isEqualTo(HASHES.length);
      assertThat(matches.blocks(other)).isEqualTo(1);
    }
  }

  @Test
  void blocksOfAPromptJustPlacedAreMarkedAsPredicted() {
    RankId other = new RankId(1, 1);
    int[] tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    BlockHashes prompt = NativeBlockHasher.of(HashFormat.KVASIR, 4).hash(tokens, CacheScope.NONE);
    try (PredictingIndex index =
        new PredictingIndex(
            new NativePrefixIndex(HashFormat.KVASIR, 4, 1 << 20),
            new ApproximateIndex(
                new NaiveIndex(HashFormat.KVASIR), ApproximateOptions.DEFAULT, () -> 0))) {
      index.onPlaced(RANK, prompt);
      index.apply(RANK, BlockEvent.Stored.named(null, prompt.sequence()[0]));
      index.onPlaced(other, prompt);
      index.apply(other, BlockEvent.Stored.named(null, prompt.sequence()));
      RankMatches matches = new RankMatches();
      index.match(prompt.sequence(), 3, matches);
      assertThat(matches.size()).isEqualTo(2);
      for (int i = 0; i < 2; i++) {
        assertThat(matches.blocks(i)).isEqualTo(3);
        assertThat(matches.hasPredicted(i)).isEqualTo(matches.rank(i).equals(RANK));
      }
    }
  }

  @Test
  void closeWaitsForCallsAndLaterOnesThrow() {
    for (int round = 0; round < 50; round++) {
      NativePrefixIndex index = new NativePrefixIndex(HashFormat.KVASIR, 4, Long.MAX_VALUE);
      index.apply(RANK, BlockEvent.Stored.named(null, HASHES));
      CountDownLatch begun = new CountDownLatch(3);
      List<FutureTask<Throwable>> users = new ArrayList<>();
      users.add(start(begun, () -> match(index)));
      users.add(start(begun, () -> match(index)));
      users.add(start(begun, () -> index.apply(RANK, BlockEvent.Stored.named(null, HASHES))));
      Await.opened("the users have begun", begun);
      index.close();
      for (FutureTask<Throwable> user : users) {
        assertThat(Await.result("a user", user))
            .isInstanceOf(IllegalStateException.class)
            .hasMessage("the prefix index is closed");
      }
    }
  }

  private static void match(NativePrefixIndex index) {
    RankMatches matches = new RankMatches();
    index.match(HASHES, HASHES.length, matches);
    assertThat(matches.size()).isEqualTo(1);
    assertThat(matches.blocks(0)).isEqualTo(HASHES.length);
  }

  private static FutureTask<Throwable> start(CountDownLatch begun, Runnable use) {
    FutureTask<Throwable> task =
        new FutureTask<>(
            () -> {
              use.run();
              begun.countDown();
              while (true) {
                try {
                  use.run();
                } catch (RuntimeException | Error e) {
                  return e;
                }
              }
            });
    Thread thread = new Thread(task, "index user");
    thread.setDaemon(true);
    thread.start();
    return task;
  }

  @Test
  void aClosedIndexRefusesEverything() {
    NativePrefixIndex index = new NativePrefixIndex(HashFormat.KVASIR, 4, Long.MAX_VALUE);
    index.close();
    index.close();
    List<Runnable> uses =
        List.of(
            () -> index.apply(RANK, new BlockEvent.Cleared()),
            () -> index.removeRank(RANK),
            () -> match(index),
            index::stats);
    for (Runnable use : uses) {
      assertThatIllegalStateException()
          .isThrownBy(use::run)
          .withMessage("the prefix index is closed");
    }
  }
}
