package io.kvasir.engine.execute;

import static io.kvasir.engine.execute.TestInstance.requestBuilder;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.testing.harness.LongRuns;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Random histories of context ranks, compared with a slow book of their events: which requests are
 * in transfer where, and when that must end.
 */
class ContextHistoriesTest {

  private static final int SEEDS = LongRuns.cases(50, 150);
  private static final LoadMetric COUNTING = LoadMetric.UNCACHED_PROMPT_TOKENS_AND_TRANSFERS;

  /** What the events say of one request. */
  private static final class Entry {
    int promptTokens;
    int sequences;
    int rank;
    boolean sending;
    long endNs;
  }

  private static final class History {
    private final Random random;
    private final KvTransfer link;
    private final TestInstance.Setup setup;
    private final TestInstance instance;
    private final SpreadRouter router;
    private final Map<Long, Entry> book = new HashMap<>();
    private final Set<Long> cancelled = new HashSet<>();
    private final int requests;
    private final int ranks;
    private final int losses;
    private int submitted;
    private int lost;
    private boolean waitedForTransfer;

    History(long seed) {
      random = new Random(seed);
      ranks = 1 + random.nextInt(4);
      requests = 10 + random.nextInt(40);
      losses = random.nextInt(3) == 0 ? random.nextInt(ranks) : 0;
      link = new KvTransfer(1 + random.nextInt(1000), 1e5 * (1 + random.nextInt(100)));
      router = new SpreadRouter(seed);
      if (random.nextBoolean()) {
        router.metric = COUNTING;
      }
      CapacityPolicy[] policies = CapacityPolicy.values();
      setup =
          TestInstance.with(ranks, 6 + random.nextInt(25), 4)
              .router(router)
              .options(
                  new ExecutorOptions(
                      4 + random.nextInt(40),
                      1 + random.nextInt(6),
                      policies[random.nextInt(policies.length)],
                      random.nextInt(5) > 0,
                      link));
      instance = setup.build();
      instance.recorder.startsAnew = true;
    }

    void run() {
      try (instance) {
        while (submitted < requests
            || !instance.loop.idle()
            || instance.loop.nextWakeNs() != AdpLoop.NEVER) {
          disturb();
          long durationNs = instance.loop.iterate(instance.nowNs);
          bookEvents();
          check();
          pass(durationNs);
          assertThat(++instance.iterations).as("iterations without end").isLessThan(100_000);
        }
        assertThat(instance.recorder.ended).doesNotHaveDuplicates().hasSize(requests);
        assertThat(instance.recorder.rejected).as("all fit").isEmpty();
        assertThat(instance.recorder.cancelled).isSubsetOf(cancelled);
        instance.assertNothingHeld();
      }
    }

    /** New requests, cancellations, losses. */
    private void disturb() {
      for (int i = random.nextInt(4); i > 0 && submitted < requests; i--) {
        submit(submitted++);
      }
      if (random.nextInt(8) == 0 && submitted > 0) {
        long id = random.nextInt(submitted);
        if (instance.loop.cancel(id)) {
          cancelled.add(id);
        }
      }
      if (lost < losses && random.nextInt(10) == 0) {
        lost += instance.loop.retire(random.nextInt(ranks), "somebody tripped over it") ? 1 : 0;
      }
    }

    private void submit(long id) {
      Entry entry = new Entry();
      entry.promptTokens = 1 + random.nextInt(24);
      entry.sequences = instance.executors.get(0).options().maxActiveRequests() > 2 ? 2 : 1;
      book.put(id, entry);
      int shared = random.nextInt(3) * 1000;
      instance.submit(
          requestBuilder(id, shared, entry.promptTokens, 1).children(entry.sequences - 1).build());
    }

    /** Books the events. */
    private void bookEvents() {
      for (String line : instance.recorder.take()) {
        String[] words = line.split("[ /]", -1);
        Entry entry = words[0].equals("retired") ? null : book.get(Long.valueOf(words[1]));
        long atNs = line.contains("@") ? Long.parseLong(line.substring(line.indexOf('@') + 1)) : 0;
        switch (words[0]) {
          case "placed" -> entry.rank = Integer.parseInt(words[3]);
          case "token" -> {
            assertThat(entry.sending).as("two tokens: " + line).isFalse();
            entry.sending = true;
            entry.endNs = atNs + link.durationNs(entry.promptTokens);
          }
          case "finished" -> {
            assertThat(entry.sending).as(line).isTrue();
            assertThat(atNs).as(line).isEqualTo(entry.endNs);
            entry.sending = false;
          }
          case "cancelled", "returned" -> entry.sending = false;
          default -> {
            // a start, a pause, a loss
          }
        }
      }
    }

    private void check() {
      long nextNs = AdpLoop.NEVER;
      int[] sending = new int[ranks];
      for (Entry entry : book.values()) {
        if (entry.sending) {
          nextNs = Math.min(nextNs, entry.endNs);
          sending[entry.rank] += entry.sequences;
        }
      }
      assertThat(instance.loop.nextWakeNs()).isEqualTo(nextNs);
      for (int rank = 0; rank < ranks; rank++) {
        if (instance.loop.isLive(rank)) {
          checkRank(rank, sending[rank]);
        }
      }
    }

    private void checkRank(int rank, int sending) {
      RankExecutor executor = instance.executors.get(rank);
      RankState state = executor.state(COUNTING);
      assertThat(state.inTransferRequests()).isEqualTo(sending);
      assertThat(state.liveRequests()).isEqualTo(executor.activeRequests());
      assertThat(state.activeRequests()).isEqualTo(executor.activeRequests() + sending);
      Occupancy pool = instance.occupancy(rank);
      assertThat(pool.freeBlocks() + pool.cachedBlocks() + pool.activeBlocks())
          .isEqualTo(pool.capacityBlocks());
      if (sending > 0) {
        assertThat(pool.activeBlocks()).as("what is sent is held").isPositive();
      }
      waitedForTransfer |= executor.waitsForTransfer();
    }

    private void pass(long durationNs) {
      if (durationNs > 0) {
        instance.nowNs += durationNs;
      } else if (instance.loop.nextWakeNs() == AdpLoop.NEVER) {
        instance.nowNs += 1_000_000;
      } else {
        assertThat(instance.loop.nextWakeNs()).isGreaterThan(instance.nowNs);
        instance.nowNs = instance.loop.nextWakeNs();
      }
    }
  }

  @Test
  void everyRequestIsSentOnceAndOnTimeAndEveryBlockComesBack() {
    int waited = 0;
    for (int i = 0; i < SEEDS; i++) {
      long seed = Long.getLong("kvasir.test.seed", i);
      History history = new History(seed);
      try {
        history.run();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("-Dkvasir.test.seed=" + seed + ", " + history.setup, e);
      }
      waited += history.waitedForTransfer ? 1 : 0;
    }
    if (Long.getLong("kvasir.test.seed") == null) {
      assertThat(waited).as("histories in which a pool was full of transfers").isPositive();
    }
  }
}
