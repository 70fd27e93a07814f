package io.kvasir.engine.execute;

import static io.kvasir.engine.execute.TestInstance.request;
import static io.kvasir.engine.execute.TestInstance.requestBuilder;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.testing.harness.LongRuns;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Ranks that fail at any call and at any time, and what comes out in the end. */
class FaultInjectionTest {

  private static final int SEEDS = LongRuns.cases(50, 150);
  private static final List<Fault.Site> SITES = List.of(Fault.Site.values());
  private static final long MARKED = 1000;
  private static final int MARKED_OUTPUTS = 6;

  private final SpreadRouter router = new SpreadRouter(0);

  /** How far the marked request is when its rank is about to fail. */
  private enum Stage {
    NOTHING_YET {
      @Override
      boolean reached(TestInstance instance) {
        return true;
      }
    },
    PREFILL {
      @Override
      boolean reached(TestInstance instance) {
        return instance.executors.get(0).holds(MARKED) && tokens(instance) == 0;
      }
    },
    DECODE {
      @Override
      boolean reached(TestInstance instance) {
        return tokens(instance) > 0;
      }
    },
    LAST_TOKEN {
      @Override
      boolean reached(TestInstance instance) {
        return tokens(instance) == MARKED_OUTPUTS - 1;
      }
    };

    abstract boolean reached(TestInstance instance);

    static int tokens(TestInstance instance) {
      return instance.recorder.streamed.getOrDefault(MARKED, List.of()).size();
    }
  }

  private static FatalDeviceException gone() {
    return new FatalDeviceException("device 0 fell off the bus", null);
  }

  @ParameterizedTest
  @EnumSource
  void aLossAtAnyCallAndStageChangesNoOutput(Fault.Site site) {
    Map<Long, int[]> expected = runMixed(null, null, new Fault[1]);
    for (Stage stage : Stage.values()) {
      Fault[] fault = new Fault[1];
      Map<Long, int[]> outputs = runMixed(site, stage, fault);
      assertThat(fault[0].tripped).as("%s in stage %s", site, stage).isTrue();
      assertSameOutputs(site + " in stage " + stage, outputs, expected);
    }
  }

  /** Many requests on two ranks, one of them marked; rank 0 fails at a site from a stage on. */
  private Map<Long, int[]> runMixed(Fault.Site site, Stage stage, Fault[] fault) {
    try (TestInstance instance =
        BlockReuseTest.stamping(2, 60, 4)
            .options(ExecutorOptions.DEFAULT.withTokenBudget(12))
            .router(router)
            .build()) {
      fault[0] = instance.fault(0);
      boolean armed = false;
      for (int round = 0; round < 30 || !instance.loop.idle(); round++) {
        if (!armed && site != null && stage.reached(instance)) {
          instance.fault(0).lose(site, 1, gone());
          armed = true;
        }
        if (round == 5) {
          instance.submit(requestBuilder(MARKED, 0, 40, MARKED_OUTPUTS).targetRank(0).build());
        } else if (round < 30) {
          instance.submit(request(round, 7 * (round % 3), 5 + round % 7, 2 + round % 5));
        }
        instance.iterate();
      }
      instance.assertEndedOnce();
      assertThat(instance.recorder.ended).hasSize(30);
      return instance.recorder.finished;
    }
  }

  @Test
  void everyRequestEndsOnceWithItsOwnOutputWhateverIsLost() {
    int losses = 0;
    int returned = 0;
    int cancelled = 0;
    for (long seed = 0; seed < SEEDS; seed++) {
      Map<Long, int[]> expected = BlockReuseTest.outputsWithoutReuse(seed);
      Random random = new Random(seed);
      int ranks = 2 + random.nextInt(3);
      Conversations conversations = new Conversations(seed, 16).cancelSome(random);
      TestInstance.Setup setup = BlockReuseTest.randomSetup(random, ranks);
      String at = "seed " + seed + ": " + setup;
      try (TestInstance instance = setup.build()) {
        int spared = random.nextInt(ranks);
        for (int rank = 0; rank < ranks; rank++) {
          Fault.Site site = SITES.get(random.nextInt(SITES.size()));
          if (rank != spared) {
            instance.fault(rank).lose(site, 1 + random.nextInt(40), gone());
          }
        }
        Map<Long, int[]> outputs = conversations.run(instance);
        outputs.forEach(
            (id, output) ->
                assertThat(output).as(at + ", request " + id).isEqualTo(expected.get(id)));
        Set<Long> ended = new HashSet<>(outputs.keySet());
        ended.addAll(instance.recorder.cancelled);
        assertThat(ended).as(at).isEqualTo(conversations.submittedIds());
        instance.assertEndedOnce();
        losses += ranks - instance.loop.liveRanks();
        returned += instance.recorder.returned.size();
        cancelled += instance.recorder.cancelled.size();
      } catch (RuntimeException e) {
        throw new AssertionError(at, e);
      }
    }
    assertThat(losses).as("ranks must be lost").isGreaterThan(SEEDS / 2);
    assertThat(returned).as("requests must be returned").isGreaterThan(SEEDS);
    assertThat(cancelled).as("requests must be cancelled").isGreaterThan(SEEDS / 10);
  }

  private static void assertSameOutputs(
      String at, Map<Long, int[]> outputs, Map<Long, int[]> expected) {
    assertThat(outputs.keySet()).as(at).isEqualTo(expected.keySet());
    expected.forEach(
        (id, output) -> assertThat(outputs.get(id)).as(at + ", " + id).isEqualTo(output));
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.Site.class,
      names = {"PROBE", "LEASE", "EXTEND", "BLOCK_TABLE", "STEP"})
  void anotherExceptionBeforeResultsAreToldIsThrownOnAndTheStepTriedAgain(Fault.Site site) {
    Map<Long, int[]> outputs = new HashMap<>();
    int tripped = 0;
    for (int call = 0; call <= 20; call++) {
      try (TestInstance instance = crowd(12, CapacityPolicy.MAX_UTILIZATION)) {
        if (call > 0) {
          instance.fault(0).failOnce(site, call, new IllegalStateException("not now"));
        }
        int thrown = runThrowing(instance);
        tripped += thrown;
        assertThat(thrown).isEqualTo(instance.fault(0).tripped ? 1 : 0);
        assertThat(instance.loop.liveRanks()).isEqualTo(2);
        assertThat(instance.recorder.returned).isEmpty();
        instance.assertEndedOnce();
        if (call == 0) {
          outputs.putAll(instance.recorder.finished);
        }
        assertSameOutputs(site + " " + call, instance.recorder.finished, outputs);
      }
    }
    assertThat(tripped).isGreaterThan(2);
  }

  @ParameterizedTest
  @EnumSource(
      value = Fault.Site.class,
      names = {"COMMIT", "RELEASE"})
  void anotherExceptionAfterResultsWereToldIsThrownOnAndCostsTheRank(Fault.Site site) {
    Map<Long, int[]> outputs = new HashMap<>();
    for (int call = 0; call <= 4; call++) {
      try (TestInstance instance = crowd(40, CapacityPolicy.GUARANTEED_NO_EVICT)) {
        if (call > 0) {
          instance.fault(0).lose(site, call, new IllegalStateException("not mine"));
        }
        assertThat(runThrowing(instance)).isEqualTo(call == 0 ? 0 : 1);
        assertThat(instance.loop.liveRanks()).isEqualTo(call == 0 ? 2 : 1);
        instance.assertEndedOnce();
        if (call == 0) {
          outputs.putAll(instance.recorder.finished);
        } else {
          assertThat(instance.recorder.retired)
              .containsEntry(0, "java.lang.IllegalStateException: not mine");
        }
        assertSameOutputs(site + " " + call, instance.recorder.finished, outputs);
      }
    }
  }

  /** Two ranks with some requests each. */
  private TestInstance crowd(int capacityBlocks, CapacityPolicy policy) {
    TestInstance instance =
        BlockReuseTest.stamping(2, capacityBlocks, 4)
            .options(ExecutorOptions.DEFAULT.withTokenBudget(10).withCapacityPolicy(policy))
            .router(router)
            .build();
    for (int id = 1; id <= 8; id++) {
      instance.submit(requestBuilder(id, id * 10, 9 + id, 4 + 2 * id).targetRank(id % 2).build());
    }
    return instance;
  }

  /** Runs to the end and counts what was thrown; the other rank must have stepped all the same. */
  private static int runThrowing(TestInstance instance) {
    int thrown = 0;
    while (!instance.loop.idle()) {
      instance.recorder.take();
      boolean otherHadWork = instance.executors.get(1).hasWork();
      try {
        instance.iterate();
      } catch (IllegalStateException e) {
        thrown++;
        if (otherHadWork) {
          assertThat(instance.recorder.take()).anyMatch(line -> line.startsWith("token"));
        }
      }
      assertThat(instance.iterations).isLessThan(10_000);
    }
    return thrown;
  }
}
