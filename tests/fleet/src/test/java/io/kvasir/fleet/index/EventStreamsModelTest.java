package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Engines that restart and whose events are lost, repeated and swapped, compared with their true
 * contents. {@code -Dkvasir.test.seed} repeats a run.
 */
class EventStreamsModelTest {

  private static final int RUNS = 40;
  private static final int STEPS = 250;

  /** How a source answers. */
  private enum Source {
    ANSWERS_AT_ONCE,
    ANSWERS_LATER,
    SAYS_GONE
  }

  @Test
  void aSourceThatAnswersMakesUpForEveryLoss() {
    everySeed(seed -> new Run(seed, Source.ANSWERS_AT_ONCE, StreamLimits.DEFAULT).exact());
  }

  @Test
  void aSourceMayAnswerLater() {
    everySeed(seed -> new Run(seed, Source.ANSWERS_LATER, StreamLimits.DEFAULT).exact());
  }

  @Test
  void aSequenceThatIsSeenLateIsRecoveredFromZero() {
    everySeed(
        seed ->
            new Run(seed, Source.ANSWERS_LATER, StreamLimits.DEFAULT, FirstNumber.ZERO).exact());
  }

  @Test
  void whatDidNotFitIsAskedForAgain() {
    everySeed(
        seed -> {
          Run run = new Run(seed, Source.ANSWERS_LATER, new StreamLimits(16, 24));
          run.exact();
          assertThat(run.streams.stats().overflows()).isPositive();
        });
  }

  @Test
  void withoutAnySourceNobodyIsMatchedOnWhatIsNotSo() {
    everySeed(seed -> new Run(seed, Source.SAYS_GONE, StreamLimits.DEFAULT).neverTooMuch());
  }

  /** One run of a seed. */
  private interface SeededRun {
    void run(long seed);
  }

  private static void everySeed(SeededRun run) {
    Long given = Long.getLong("kvasir.test.seed");
    Random seeds = new Random(0x6b7661736972L);
    for (int i = 0; i < (given == null ? RUNS : 1); i++) {
      long seed = given != null ? given : seeds.nextLong();
      try {
        run.run(seed);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("-Dkvasir.test.seed=" + seed + ": " + e.getMessage(), e);
      }
    }
  }

  /** Some engines, the streams under test, and the engines' true contents. */
  private static final class Run {

    final NaiveIndex truth = new NaiveIndex(HashFormat.KVASIR);
    final NaiveIndex index = new NaiveIndex(HashFormat.KVASIR);
    final Random random;
    final RandomChains chains;
    final List<LossyEngine> engines = new ArrayList<>();
    final List<Runnable> answers = new ArrayList<>();
    final Source source;
    final EventStreams streams;

    /** Without numbers from zero, where the caller notices restarts. */
    final boolean restarts;

    Run(long seed, Source source, StreamLimits limits) {
      this(seed, source, limits, FirstNumber.RECEIVED);
    }

    Run(long seed, Source source, StreamLimits limits, FirstNumber firstNumber) {
      this.random = new Random(seed);
      this.source = source;
      this.restarts = firstNumber == FirstNumber.RECEIVED;
      this.chains = new RandomChains(random, 3, 8);
      this.streams = new EventStreams(index, this::recover, limits, firstNumber);
      for (int i = 0; i < 5; i++) {
        engines.add(new LossyEngine(new RankId(i / 2, i % 2), truth, chains, random));
      }
      if (firstNumber == FirstNumber.ZERO) {
        engines.forEach(LossyEngine::beginUnseen);
      }
      everything();
    }

    private void everything() {
      for (int step = 0; step < STEPS; step++) {
        LossyEngine engine = engines.get(random.nextInt(engines.size()));
        if (restarts && random.nextInt(100) == 0) {
          engine.restart();
        } else {
          engine.step();
        }
        if (random.nextInt(3) == 0) {
          engine.deliver(streams);
        }
        if (random.nextInt(12) == 0) {
          answerAll();
        }
      }
      engines.forEach(LossyEngine::makeLossless);
      for (int i = 0; i < 20; i++) {
        engines.forEach(LossyEngine::step);
        engines.forEach(engine -> engine.deliver(streams));
        answerAll();
        streams.retryGaps();
        answerAll();
      }
      for (int i = 0; i < 20 && streams.stats().hiddenRanks() > 0; i++) {
        streams.retryGaps();
        answerAll();
      }
      assertThat(streams.stats().hiddenRanks()).isZero();
      assertThat(streams.stats().pendingBlocks()).isZero();
      assertThat(streams.stats().gaps()).isPositive();
      assertThat(streams.stats().duplicates()).isPositive();
    }

    private void answerAll() {
      while (!answers.isEmpty()) {
        answers.remove(random.nextInt(answers.size())).run();
      }
    }

    private void recover(RankId rank, long first, long last, RecoverySource.Answer answer) {
      LossyEngine engine =
          engines.stream().filter(each -> each.rank.equals(rank)).findFirst().orElseThrow();
      int life = engine.life();
      Runnable now =
          () -> {
            if (life < 0 || life != engine.life()) {
              answer.failed();
            } else if (source == Source.SAYS_GONE) {
              answer.gone();
            } else {
              engine.answer(random.nextBoolean(), first, last, answer);
            }
          };
      if (source == Source.ANSWERS_LATER) {
        answers.add(now);
      } else {
        now.run();
      }
    }

    void exact() {
      for (int i = 0; i < 200; i++) {
        long[] sequence = NaiveIndex.chain(HashFormat.KVASIR, 0, chains.next());
        assertThat(IndexScenario.match(index, sequence))
            .isEqualTo(IndexScenario.match(truth, sequence));
      }
      assertThat(index.stats().memberships()).isEqualTo(truth.stats().memberships());
    }

    void neverTooMuch() {
      for (int i = 0; i < 200; i++) {
        long[] sequence = NaiveIndex.chain(HashFormat.KVASIR, 0, chains.next());
        var really = IndexScenario.match(truth, sequence);
        IndexScenario.match(index, sequence)
            .forEach(
                (rank, blocks) ->
                    assertThat(blocks).isLessThanOrEqualTo(really.getOrDefault(rank, 0)));
      }
    }
  }
}
