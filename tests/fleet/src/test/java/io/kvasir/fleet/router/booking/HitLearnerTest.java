package io.kvasir.fleet.router.booking;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.kvasir.fleet.router.HitCorrection;
import java.util.Random;
import java.util.function.IntBinaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Engines that reuse less than they hold, each by a rule written out here. */
class HitLearnerTest {

  private static final int BLOCK = 16;
  private static final long SEED = 35;

  /** A prompt of random length; some of its leading blocks are held. */
  private record Probe(int heldBlocks, int promptTokens) {
    static Probe draw(Random random) {
      int tokens = 1 + random.nextInt(8_000);
      int blocks = tokens / BLOCK;
      // One in four is sent again as it is.
      int held = random.nextInt(4) == 0 ? blocks : random.nextInt(blocks + 1);
      return new Probe(held, tokens);
    }
  }

  /** Cached tokens of an engine, by held blocks and prompt tokens. */
  private static HitLearner after(int requests, double noise, IntBinaryOperator engine) {
    Random random = new Random(SEED);
    HitLearner learner = new HitLearner(BLOCK);
    for (int i = 0; i < requests; i++) {
      Probe probe = Probe.draw(random);
      int cached = engine.applyAsInt(probe.heldBlocks, probe.promptTokens);
      if (random.nextDouble() < noise) {
        cached = cached == 0 ? 0 : random.nextInt(cached);
      }
      learner.served(probe.heldBlocks, probe.promptTokens, cached);
    }
    return learner;
  }

  /** Difference between expected and reported tokens of later requests, as a share of these. */
  private static double error(HitLearner learner, IntBinaryOperator engine) {
    Random random = new Random(SEED + 1);
    long expected = 0;
    long reported = 0;
    long wrong = 0;
    for (int i = 0; i < 2_000; i++) {
      Probe probe = Probe.draw(random);
      int predicted = BLOCK * learner.learned().blocks(probe.heldBlocks, probe.promptTokens, BLOCK);
      int cached = engine.applyAsInt(probe.heldBlocks, probe.promptTokens);
      expected += predicted;
      reported += cached;
      wrong += Math.abs(predicted - cached);
    }
    assertTrue(Math.abs(expected - reported) <= wrong);
    return (double) wrong / reported;
  }

  private static int whole(int held, int tokens, int end) {
    return BLOCK * Math.min(held, (tokens - end) / BLOCK);
  }

  @Test
  void nothingIsLearnedOfAnEngineThatReusesEverything() {
    HitLearner learner = after(500, 0.1, (held, tokens) -> whole(held, tokens, 1));
    assertEquals(HitCorrection.NONE, learner.learned());
  }

  /** vLLM with EAGLE or MTP. */
  @ParameterizedTest
  @CsvSource({"0,1", "0.15,1", "0,2", "0.15,103"})
  void aBlockOfEachHitIsLost(double noise, int lost) {
    IntBinaryOperator engine = (held, tokens) -> Math.max(0, whole(held, tokens, 1) - lost * BLOCK);
    HitLearner learner = after(200, noise, engine);
    assertEquals(lost, learner.learned().lostBlocks(), learner.learned().toString());
    assertTrue(error(learner, engine) < 0.03);
  }

  /** SGLang with pairs of tokens as keys. */
  @Test
  void oneTokenMoreIsNeededBehindAHit() {
    HitLearner learner = new HitLearner(1);
    Random random = new Random(SEED);
    for (int i = 0; i < 200; i++) {
      int tokens = 2 + random.nextInt(1_000);
      int held = random.nextBoolean() ? tokens : random.nextInt(tokens);
      learner.served(held, tokens, Math.min(held, tokens - 2));
    }
    assertEquals(new HitCorrection(2, 1, 0, 1), learner.learned());
  }

  /** Context parallelism over 4 ranks, with and without a lost unit. */
  @ParameterizedTest
  @CsvSource({"0", "1"})
  void hitsAreWholeUnits(int lostUnits) {
    IntBinaryOperator engine =
        (held, tokens) -> {
          int blocks = whole(held, tokens, 1) / BLOCK;
          return BLOCK * Math.max(0, blocks - blocks % 4 - 4 * lostUnits);
        };
    HitLearner learner = after(200, 0.1, engine);
    assertEquals(4, learner.learned().unitBlocks());
    assertEquals(4 * lostUnits, learner.learned().lostBlocks());
    assertTrue(error(learner, engine) < 0.03);
  }

  @ParameterizedTest
  @CsvSource({"0,0", "0.15,0", "0,1"})
  void shortHitsAreIgnored(double noise, int lost) {
    IntBinaryOperator engine =
        (held, tokens) -> {
          int cached = whole(held, tokens, 1) - lost * BLOCK;
          return cached < 2_048 ? 0 : cached;
        };
    HitLearner learner = after(200, noise, engine);
    assertEquals(128, learner.learned().smallestBlocks(), 8, learner.learned().toString());
    assertTrue(error(learner, engine) < 0.03);
  }

  /** After a restart without speculation, a window of requests replaces what was learned. */
  @Test
  void aRuleThatEndsIsForgotten() {
    Random random = new Random(SEED);
    HitLearner learner = new HitLearner(BLOCK);
    for (int i = 0; i < 200 + HitLearner.WINDOW; i++) {
      Probe probe = Probe.draw(random);
      int cached = whole(probe.heldBlocks, probe.promptTokens, 1);
      learner.served(
          probe.heldBlocks, probe.promptTokens, i < 200 ? Math.max(0, cached - BLOCK) : cached);
    }
    assertEquals(HitCorrection.NONE, learner.learned());
  }

  @Test
  void withoutUsageNothingIsLearned() {
    HitLearner learner = after(500, 0, (held, tokens) -> -1);
    assertEquals(HitCorrection.NONE, learner.learned());
  }

  /** A burst behind one head: the engine computes it for each, and nothing is known of others. */
  @Test
  void aFewMissesTeachNothing() {
    IntBinaryOperator engine = (held, tokens) -> whole(held, tokens, 1);
    HitLearner learner = after(100, 0, engine);
    for (int i = 0; i < 24; i++) {
      learner.served(125, 2_100, 0);
    }
    assertEquals(HitCorrection.NONE, learner.learned());
  }
}
