package io.kvasir.engine.execute;

import static io.kvasir.engine.execute.TestInstance.request;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Prefill that is held back by the loop while ranks are out of balance. */
class AdpBalanceLoopTest {

  private static final long SEED =
      Long.getLong("kvasir.test.seed", new Random().nextLong(1_000_000));

  private static final int MAX_ACTIVE = 6;

  /** What the ranks hold by the listener's events, and when to hold prefill back, step by step. */
  private static final class Oracle {
    final int ranks;
    final int timeout;
    final int batching;
    final int threshold;
    final int lowTimeout;
    final Map<Long, Integer> rankOf = new LinkedHashMap<>();
    final Set<Long> decoding = new HashSet<>();
    int waits;
    int batches;

    Oracle(Random random) {
      ranks = 1 + random.nextInt(4);
      timeout = random.nextInt(6);
      batching = random.nextInt(4);
      threshold = random.nextInt(MAX_ACTIVE + 1);
      lowTimeout = timeout == 0 ? 0 : random.nextInt(timeout + 1);
    }

    long context(int rank) {
      return on(rank) - generation(rank);
    }

    long generation(int rank) {
      return decoding.stream().filter(id -> rankOf.get(id) == rank).count();
    }

    long on(int rank) {
      return rankOf.values().stream().filter(placed -> placed == rank).count();
    }

    boolean holds() {
      long fewest = Long.MAX_VALUE;
      boolean everybodyCanPrefill = true;
      boolean everybodyDecodes = true;
      for (int rank = 0; rank < ranks; rank++) {
        long padded = on(rank) == 0 ? 1 : generation(rank);
        fewest = Math.min(fewest, generation(rank));
        everybodyCanPrefill &= context(rank) > 0 && padded < MAX_ACTIVE;
        everybodyDecodes &= padded > 0;
      }
      if (!everybodyCanPrefill) {
        waits++;
        if (waits < (fewest < threshold ? lowTimeout : timeout) && everybodyDecodes) {
          return true;
        }
        waits = 0;
        return false;
      }
      waits = 0;
      if (everybodyDecodes && batches < batching) {
        batches++;
        return true;
      }
      batches = everybodyDecodes ? 0 : batches;
      return false;
    }

    void bookPlacements(List<String> lines) {
      for (String line : lines) {
        String[] words = line.split(" ", -1);
        if (words[0].equals("placed")) {
          rankOf.put(Long.parseLong(words[1]), Integer.parseInt(words[3]));
        }
      }
    }

    void bookResults(List<String> lines) {
      for (String line : lines) {
        String[] words = line.split("[ /]", -1);
        long id = Long.parseLong(words[1]);
        if (words[0].equals("token")) {
          decoding.add(id);
        } else if (words[0].equals("finished")) {
          decoding.remove(id);
          rankOf.remove(id);
        }
      }
    }
  }

  @Test
  void theLoopHoldsPrefillBackWhenTheSlowObviousRuleSaysSo() {
    Random random = new Random(SEED);
    int held = 0;
    for (int run = 0; run < 60; run++) {
      held += compare(new Oracle(random), random, "seed " + SEED + ", run " + run);
    }
    assertThat(held).as("iterations held, seed %s", SEED).isGreaterThan(100);
  }

  /** How many iterations were held in which somebody could have prefilled. */
  private static int compare(Oracle oracle, Random random, String as) {
    List<PlanRecorder> engines = new ArrayList<>();
    AdpBalance balance =
        new AdpBalance(
            MAX_ACTIVE, oracle.timeout, oracle.batching, oracle.threshold, oracle.lowTimeout);
    int held = 0;
    try (TestInstance instance =
        TestInstance.with(oracle.ranks, 400, 4)
            .options(new ExecutorOptions(12, MAX_ACTIVE, CapacityPolicy.GUARANTEED_NO_EVICT, true))
            .balance(balance)
            .engines(
                pool -> {
                  engines.add(new PlanRecorder());
                  return engines.get(engines.size() - 1);
                })
            .build()) {
      for (long id = 0; id < 40 || !instance.loop.idle(); ) {
        for (int left = random.nextInt(3); left > 0 && id < 40; left--) {
          instance.submit(
              request(id, (int) id * 1000, 1 + random.nextInt(30), 1 + random.nextInt(9)));
          id++;
        }
        boolean idle = instance.loop.idle();
        List<String> lines = instance.iterate();
        if (idle) {
          continue;
        }
        oracle.bookPlacements(lines);
        boolean hold = oracle.holds();
        for (int rank = 0; rank < oracle.ranks; rank++) {
          List<String> plan = engines.get(rank).take();
          assertThat(plan)
              .as("decodes of rank %s, %s", rank, as)
              .filteredOn(entry -> entry.startsWith("decode"))
              .hasSize((int) oracle.generation(rank));
          assertThat(plan.stream().anyMatch(entry -> entry.startsWith("prefill")))
              .as("rank %s prefills, %s", rank, as)
              .isEqualTo(!hold && oracle.context(rank) > 0);
          held += hold && oracle.context(rank) > 0 ? 1 : 0;
        }
        oracle.bookResults(lines);
      }
      assertThat(instance.recorder.finished).as(as).hasSize(40);
      instance.assertNothingHeld();
    }
    return held;
  }

  @ParameterizedTest
  @EnumSource(CapacityPolicy.class)
  void everybodyEndsHoweverLongPrefillIsHeldBack(CapacityPolicy policy) {
    Random random = new Random(SEED);
    int pauses = 0;
    for (int run = 0; run < 60; run++) {
      int ranks = 1 + random.nextInt(4);
      int timeout = random.nextInt(60);
      AdpBalance balance = new AdpBalance(MAX_ACTIVE, timeout, random.nextInt(20), 3, timeout / 2);
      try (TestInstance instance =
          TestInstance.with(ranks, 12 + random.nextInt(20), 4)
              .options(
                  new ExecutorOptions(
                      1 + random.nextInt(20), MAX_ACTIVE, policy, random.nextBoolean()))
              .balance(balance)
              .build()) {
        for (long id = 0; id < 60; id++) {
          instance.submit(
              request(id, random.nextInt(5) * 100, 1 + random.nextInt(30), 1 + random.nextInt(18)));
          if (random.nextInt(3) == 0) {
            instance.iterate();
          }
          if (random.nextInt(10) == 0) {
            instance.loop.cancel(random.nextInt(60));
          }
        }
        instance.runUntilIdle();
        assertThat(instance.recorder.ended).as("seed " + SEED).doesNotHaveDuplicates().hasSize(60);
        assertThat(instance.recorder.rejected).isEmpty();
        instance.assertNothingHeld();
        pauses += instance.recorder.pauses;
      }
    }
    assertThat(pauses > 0).isEqualTo(policy == CapacityPolicy.MAX_UTILIZATION);
  }
}
