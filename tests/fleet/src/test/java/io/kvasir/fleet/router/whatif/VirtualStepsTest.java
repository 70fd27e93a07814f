package io.kvasir.fleet.router.whatif;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.model.RankId;
import io.kvasir.timing.StepModel;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class VirtualStepsTest {

  private static final RankId RANK = new RankId(1, 0);
  private static final long MS = 1_000_000;
  private static final long SEED = Long.getLong("kvasir.test.seed", 5);

  private final StepModel model = new StepModel(StepTiming.DEFAULT, 2);
  private final List<String> events = new ArrayList<>();
  private final List<Long> times = new ArrayList<>();

  private VirtualSteps steps(boolean learns) {
    VirtualSteps steps =
        new VirtualSteps(
            16,
            model,
            learns,
            new VirtualSteps.Listener() {
              @Override
              public void onFirstToken(long attempt, long atNs) {
                events.add("first " + attempt);
                times.add(atNs);
              }

              @Override
              public void onTokens(long attempt, int tokens, long atNs) {
                events.add("tokens " + attempt);
                times.add(atNs);
              }

              @Override
              public void onEnd(long attempt, boolean success, long atNs) {
                events.add("end " + attempt);
                times.add(atNs);
              }
            });
    steps.add(RANK, new RankCapacity(1_000, 0), 0);
    return steps;
  }

  private static void place(VirtualSteps steps, long attempt, long atMs, int tokens) {
    steps.placed(attempt, RANK, atMs * MS, atMs * MS, tokens, tokens, true);
  }

  private double promptMs() {
    return model.promptMs(1_000, 0, 1);
  }

  @Test
  void aRequestHasItsFirstTokenAfterItsStepAndEndsAfterItsRun() {
    VirtualSteps steps = steps(false);
    place(steps, 1, 0, 1_000);
    steps.advance(20 * MS);
    assertThat(events).isEmpty();
    steps.advance(40 * MS); // 32 ms
    assertThat(events).containsExactly("first 1");
    assertThat(steps.firstTokens().quantileMs(0.5)).isBetween(31.0, 33.0);
    steps.onActualTokens(1, 100 * MS, 1);
    steps.onActualEnd(1, 200 * MS, true, VirtualSteps.UNKNOWN); // 100 ms after its first token
    assertThat(events).containsExactly("first 1", "tokens 1", "end 1");
    assertThat(steps.onActualEnd(1, 300 * MS, true, VirtualSteps.UNKNOWN)).isFalse();
  }

  @Test
  void aRequestWhoseActualOneEndsFirstRunsOnAndEndsOnce() {
    VirtualSteps steps = steps(false);
    place(steps, 1, 0, 16_000); // several steps
    steps.onActualTokens(1, 10 * MS, 1);
    assertThat(steps.onActualEnd(1, 20 * MS, true, VirtualSteps.UNKNOWN)).isTrue();
    assertThat(steps.onActualEnd(1, 21 * MS, true, VirtualSteps.UNKNOWN)).isTrue();
    assertThat(events).isEmpty();
    steps.advance(10_000 * MS);
    assertThat(events).containsExactly("first 1", "tokens 1", "end 1");
  }

  @Test
  void whatCannotBeServedInTimeIsGivenUp() {
    VirtualSteps steps = steps(false);
    for (long i = 1; i <= 50; i++) {
      place(steps, i, 0, 16_000); // the pool has room for one at a time
    }
    for (long i = 2; i <= 50; i++) {
      steps.onActualEnd(i, 10 * MS, true, VirtualSteps.UNKNOWN);
    }
    steps.advance(200_000 * MS); // the first one runs
    assertThat(events).containsExactly("first 1");
    steps.advance(400_000 * MS);
    assertThat(events).hasSize(50).contains("end 2", "end 50").doesNotContain("end 1");
    assertThat(steps.firstTokens().quantileMs(0.5)).isBetween(300_000.0, 400_000.0);
  }

  @Test
  void requestsOfARemovedRankRunToTheirEnds() {
    VirtualSteps steps = steps(false);
    place(steps, 1, 0, 1_000);
    steps.advance(50 * MS);
    place(steps, 2, 60, 1_000); // computed
    place(steps, 3, 61, 1_000); // waits
    steps.remove(RANK, 62 * MS);
    place(steps, 4, 63, 1_000); // is not followed
    steps.advance(10_000 * MS);
    assertThat(events).containsExactly("first 1", "first 2", "first 3");
    for (long i = 1; i <= 3; i++) {
      assertThat(steps.onActualEnd(i, 20_000 * MS, true, VirtualSteps.UNKNOWN)).isTrue();
      assertThat(events).endsWith("end " + i);
    }
    assertThat(steps.onActualEnd(4, 20_000 * MS, true, VirtualSteps.UNKNOWN)).isFalse();
    steps.add(RANK, new RankCapacity(1_000, 0), 30_000 * MS);
    place(steps, 5, 30_000, 1_000);
    steps.advance(31_000 * MS);
    assertThat(events).endsWith("first 5");
  }

  @Test
  void aPromptThatWaitsForBlocksStartsOnceTheRankHasMore() {
    VirtualSteps steps = steps(false);
    place(steps, 1, 0, 10_000); // and decodes
    place(steps, 2, 1, 10_000); // the pool has 16,000 tokens
    steps.advance(5_000 * MS);
    assertThat(events).containsExactly("first 1");
    steps.add(RANK, new RankCapacity(2_000, 0), 5_000 * MS);
    steps.advance(6_000 * MS);
    assertThat(events).containsExactly("first 1", "first 2");
  }

  @Test
  void aRequestThatIsGivenUpAfterFiveMinutesCountsWithThem() {
    VirtualSteps steps = steps(false);
    place(steps, 1, 0, 16_000); // fills the pool
    place(steps, 2, 0, 16_000);
    steps.onActualEnd(2, 301_000 * MS, false, VirtualSteps.UNKNOWN);
    assertThat(steps.firstTokens().quantileMs(1)).isBetween(298_000.0, 304_000.0);
  }

  @Test
  void eventsOfAllWorkersComeInTheOrderOfTime() {
    Random random = new Random(SEED);
    VirtualSteps steps = steps(false);
    for (int worker = 2; worker <= 5; worker++) {
      steps.add(new RankId(worker, 0), new RankCapacity(1_000, 0), 0);
    }
    for (long attempt = 1; attempt <= 400; attempt++) {
      long atNs = attempt * 7 * MS;
      RankId rank = new RankId(1 + random.nextInt(5), 0);
      steps.placed(attempt, rank, atNs, atNs, 500, 1 + random.nextInt(500), true);
      if (attempt > 40) {
        steps.onActualTokens(attempt - 40, atNs, 1);
        steps.onActualEnd(attempt - 40, atNs, random.nextInt(5) > 0, VirtualSteps.UNKNOWN);
      }
    }
    assertThat(times).hasSizeGreaterThan(400).isSorted();
  }

  @Test
  void requestsThatNeverGetATokenCountWithTheTimeThatTheyWaited() {
    VirtualSteps steps = steps(false);
    place(steps, 1, 0, 16_000); // fills the pool
    place(steps, 2, 0, 16_000);
    steps.onActualTokens(2, 10 * MS, 1);
    steps.onActualEnd(2, 7_000 * MS, false, VirtualSteps.UNKNOWN); // cut off
    place(steps, 3, 0, 16_000);
    steps.onActualEnd(3, 9_000 * MS, false, VirtualSteps.UNKNOWN); // had no token
    assertThat(events).containsExactly("first 1", "end 2", "end 3");
    assertThat(steps.firstTokens().quantileMs(1)).isBetween(6_900.0, 7_100.0);
  }

  @Test
  void firstTokensThatComeAsExpectedButForNoiseTeachNoOtherTimes() {
    Random random = new Random(SEED);
    VirtualSteps steps = steps(true);
    double before = promptMs();
    for (int i = 1; i <= 2_000; i++) {
      place(steps, i, i * 10_000L, 1_000);
      double ms = before * Math.exp(0.2 * random.nextGaussian());
      steps.onActualTokens(i, i * 10_000 * MS + Math.round(ms * MS), 1);
      steps.onActualEnd(i, (i * 10_000L + 3_000) * MS, true, VirtualSteps.UNKNOWN);
    }
    assertThat(promptMs()).isBetween(0.97 * before, 1.03 * before);
  }

  @Test
  void timesAreLearnedFromFirstTokensInBothDirections() {
    VirtualSteps steps = steps(true);
    for (int i = 1; i <= 300; i++) {
      place(steps, i, i * 10_000L, 1_000);
      steps.onActualTokens(i, (i * 10_000L + 200) * MS, 1);
      steps.onActualEnd(i, (i * 10_000L + 300) * MS, true, VirtualSteps.UNKNOWN);
    }
    assertThat(promptMs()).isBetween(180.0, 220.0);
    for (int i = 301; i <= 1_000; i++) { // ten times as fast, and so many that some always wait
      place(steps, i, 4_000_000 + i * 25L, 1_000);
      steps.onActualTokens(i, (4_000_000 + i * 25L + 20) * MS, 1);
      steps.onActualEnd(i, (4_000_000 + i * 25L + 22) * MS, true, VirtualSteps.UNKNOWN);
    }
    assertThat(promptMs()).isLessThan(30);
  }

  @Test
  void answersThatDoNotStreamTeachNothing() {
    VirtualSteps steps = steps(true);
    double before = promptMs();
    for (int i = 1; i <= 100; i++) {
      long atNs = i * 10_000 * MS;
      steps.placed(i, RANK, atNs, atNs, 1_000, 1_000, false);
      steps.onActualTokens(i, atNs + 3_000 * MS, 50);
      long firstNs = steps.firstNs(i, atNs + 3_000 * MS);
      assertThat(firstNs).isBetween(atNs, atNs + 50 * MS);
      steps.onActualEnd(i, atNs + 3_000 * MS, true, firstNs);
    }
    assertThat(promptMs()).isEqualTo(before);
    assertThat(events).hasSize(300).endsWith("end 100");
  }

  @Test
  void wholeAnswersThatComeBeforeTheExpectedFirstTokenTeachThatStepsAreFaster() {
    VirtualSteps steps = steps(true);
    for (int i = 1; i <= 200; i++) {
      long atNs = i * 10 * MS;
      steps.placed(i, RANK, atNs, atNs, 1_000, 1_000, false);
      steps.onActualEnd(i, atNs + 5 * MS, true, VirtualSteps.UNKNOWN);
    }
    assertThat(promptMs()).isLessThan(8);
  }

  @Test
  void everyRequestEndsWhateverHappens() {
    Random random = new Random(SEED);
    VirtualSteps steps = steps(true);
    List<RankId> ranks = new ArrayList<>(List.of(RANK));
    List<Long> running = new ArrayList<>();
    long nowMs = 0;
    long attempt = 0;
    long ended = 0;
    for (int i = 0; i < 5_000; i++) {
      nowMs += random.nextInt(40);
      switch (random.nextInt(20)) {
        case 0 -> {
          RankId rank = new RankId(random.nextInt(3), random.nextInt(2));
          steps.add(rank, new RankCapacity(random.nextInt(3) * 400L, 0), nowMs * MS);
          ranks.add(rank);
        }
        case 1 -> steps.remove(ranks.get(random.nextInt(ranks.size())), nowMs * MS);
        case 2 -> steps.advance(nowMs * MS);
        case 3, 4, 5, 6, 7, 8, 9 -> {
          RankId rank = ranks.get(random.nextInt(ranks.size()));
          RankId on = random.nextBoolean() ? rank : RankId.anyOf(rank.workerId());
          int tokens = 1 + random.nextInt(9_000);
          int uncached = 1 + random.nextInt(tokens);
          long ns = nowMs * MS;
          steps.placed(++attempt, on, ns, ns, tokens, uncached, random.nextInt(5) > 0);
          running.add(attempt);
        }
        case 10, 11, 12, 13 -> {
          if (!running.isEmpty()) {
            long one = running.get(random.nextInt(running.size()));
            steps.onActualTokens(one, nowMs * MS, random.nextInt(3));
          }
        }
        default -> {
          if (!running.isEmpty()) {
            long one = running.remove(random.nextInt(running.size()));
            boolean followed =
                steps.onActualEnd(
                    one, nowMs * MS, random.nextInt(4) > 0, steps.firstNs(one, nowMs * MS));
            ended += followed ? 1 : 0;
          }
        }
      }
    }
    for (long one : running) {
      ended += steps.onActualEnd(one, nowMs * MS, true, VirtualSteps.UNKNOWN) ? 1 : 0;
    }
    steps.advance((nowMs + 1_000_000) * MS);
    assertThat(events.stream().filter(event -> event.startsWith("end ")))
        .doesNotHaveDuplicates()
        .hasSize((int) ended);
    everyRankIsEmpty(steps, attempt, (nowMs + 1_000_000) * MS);
  }

  /** Each rank takes one prompt that fills its pool, and a third one of two ranks waits. */
  private void everyRankIsEmpty(VirtualSteps steps, long before, long nowNs) {
    events.clear();
    List<String> first = new ArrayList<>();
    long attempt = before;
    for (int worker = 0; worker < 3; worker++) {
      steps.add(new RankId(worker, 0), new RankCapacity(100, 0), nowNs);
      steps.add(new RankId(worker, 1), new RankCapacity(100, 0), nowNs);
      for (int i = 0; i < 3; i++) {
        steps.placed(++attempt, RankId.anyOf(worker), nowNs, nowNs, 1_600, 1_600, true);
        if (i < 2) {
          first.add("first " + attempt);
        }
      }
    }
    steps.advance(nowNs + 10_000 * MS);
    assertThat(events).containsExactlyInAnyOrderElementsOf(first);
  }
}
