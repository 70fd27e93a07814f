package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.model.Request;
import io.kvasir.testing.harness.LongRuns;
import io.kvasir.timing.StepTiming;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * {@code projected} against its oracle on random histories of calls, every term of every compared
 * rank included. {@code -Dkvasir.test.seed} repeats one.
 */
class ProjectedAdpRouterDifferentialTest {

  private static final int CASES = LongRuns.cases(4_000, 100_000);
  private static final long SEED = Long.getLong("kvasir.test.seed", 0x6b7661736972L);

  /** One history in so many is long enough for what the router keeps of pools' ticks to be full. */
  private static final int LONG_HISTORIES = 100;

  /** Calls that a batch comes again, so that the head of a queue can grow impatient. */
  private static final int AGAIN = 1_020;

  private int thinnings;
  private int impatient;
  private int patient;
  private int placed;
  private int leftOver;
  private int named;
  private int affine;

  @Test
  void decidesLikeTheOracle() {
    int calls = 0;
    for (long seed = SEED; calls < CASES; seed++) {
      calls += compareHistory(seed);
    }
    if (Long.getLong("kvasir.test.seed") == null) {
      assertThat(thinnings).as("times that samples of ticks were thinned").isPositive();
      assertThat(patient).as("requests left over although some rank had room").isPositive();
      assertThat(impatient).as("requests that had been left over too often").isPositive();
      assertThat(List.of(placed, leftOver, named, affine))
          .as("placed, left over, explicit, by affinity")
          .allMatch(count -> count > 100);
    }
  }

  private int compareHistory(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    RandomBatches batches = new RandomBatches(random);
    boolean isLong = random.nextInt(LONG_HISTORIES) == 0;
    int ranks = isLong ? 1 + random.nextInt(3) : batches.ranks();
    BlockDemand demand = isLong ? new BlockDemand(4, random.nextBoolean()) : batches.demand();
    StepTiming timing = batches.timing();
    int maxNumTokens = batches.maxNumTokens();
    AdpRouter router = new ProjectedAdpRouter(ranks, timing, maxNumTokens, demand, false, "", true);
    ProjectedOracle oracle = new ProjectedOracle(ranks, timing, maxNumTokens, demand);
    int calls = isLong ? 5_000 : 1 + random.nextInt(6);
    RandomBatches.Batch batch = null;
    int again = 0;
    int repeats = 0;
    for (int call = 0; call < calls; call++) {
      if (random.nextInt(4) > 0) {
        // Ranks that do nothing teach no times.
        long ns = random.nextLong(1, 20_000_000);
        router.stepped(Collections.nCopies(ranks, RankWork.NONE), ns);
        oracle.stepped(ns / 1e6);
      }
      if (again == 0) {
        batch = batches.nextWithWork(ranks);
      } else {
        again--;
      }
      ProjectedOracle.Answer expected =
          oracle.route(
              batch.states(), batch.requests(), batch.matches(), batch.maxActiveRequests());
      Assignment assignment =
          router.route(
              batch.states(), batch.requests(), batch.matches(), batch.maxActiveRequests());
      assertThat(answer(assignment, batch.requests()))
          .as("-Dkvasir.test.seed=%d, call %d, %s, %s", seed, call, timing, demand)
          .isEqualTo(expected);
      count(expected);
      boolean stuck = isLong && repeats < 3 && oracle.headWaits();
      if (stuck && random.nextInt(40) == 0) {
        again = AGAIN;
        repeats++;
      }
    }
    thinnings += oracle.thinnings();
    impatient += oracle.impatient();
    patient += oracle.patient();
    return calls;
  }

  private void count(ProjectedOracle.Answer answer) {
    leftOver += answer.unassigned().size();
    for (ProjectedOracle.Placement placement : answer.placements()) {
      placed++;
      named += placement.reason() == AdpReason.EXPLICIT ? 1 : 0;
      affine += placement.reason() == AdpReason.AFFINITY ? 1 : 0;
    }
  }

  private static ProjectedOracle.Answer answer(Assignment assignment, List<Request> batch) {
    IdentityHashMap<Request, Integer> indices = new IdentityHashMap<>();
    for (int i = 0; i < batch.size(); i++) {
      indices.put(batch.get(i), i);
    }
    List<ProjectedOracle.Placement> placements = new ArrayList<>();
    for (Decision decision : assignment.decisions()) {
      assertThat(decision.request()).isSameAs(batch.get(decision.requestIndex()));
      placements.add(
          new ProjectedOracle.Placement(
              decision.requestIndex(),
              decision.rank(),
              decision.reason(),
              decision.matchedTokens(),
              decision.affinityActive(),
              decision.maxMatch(),
              compared(decision)));
    }
    List<Long> tokens = new ArrayList<>();
    for (long count : assignment.activeTokensAfter()) {
      tokens.add(count);
    }
    return new ProjectedOracle.Answer(
        placements,
        assignment.unassigned().stream().map(indices::get).toList(),
        assignment.expectedActiveRequests(),
        tokens);
  }

  private static List<ProjectedOracle.Compared> compared(Decision decision) {
    List<ProjectedOracle.Compared> compared = new ArrayList<>();
    for (int i = 0; i < decision.scoredRanks().length; i++) {
      List<Double> terms = new ArrayList<>();
      for (int term = 0; term < decision.terms().names().size(); term++) {
        terms.add(decision.terms().value(i, term));
      }
      compared.add(
          new ProjectedOracle.Compared(decision.scoredRanks()[i], decision.scores()[i], terms));
    }
    return compared;
  }
}
