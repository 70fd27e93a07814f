package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.engine.execute.CrowdedPoolException;
import io.kvasir.engine.execute.KvTransfer;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.engine.lockstep.SoleCollective;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.Request;
import io.kvasir.simulator.trace.TokenExpansion;
import io.kvasir.simulator.workload.Arrivals;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A decode worker with a rank that arriving KV keeps from starting anything. */
class CrowdedRankTest {

  private static final int BLOCK = 32;
  private static final int POOL_TOKENS = 20 * BLOCK;
  private static final int ANSWER = 5;

  private static final ReplaySettings SETTINGS =
      new ReplaySettings(2, POOL_TOKENS, BLOCK)
          .withMode(new ReplayMode.Apart(new KvTransfer(10_000, 1e9), false));

  private final NativeBlockHasher hasher =
      NativeBlockHasher.of(SETTINGS.pool().hashFormat(), BLOCK);
  private final Outcomes outcomes = new Outcomes();

  private static final class Outcomes implements RequestOutcomes {
    final List<Long> tokenNs = new ArrayList<>();
    int finished;
    boolean fails;

    @Override
    public void onPlaced(AdpReason reason) {}

    @Override
    public boolean onStarted(Request request, long nowNs) {
      return true;
    }

    @Override
    public void onToken(Request request, int index, long nowNs) {
      if (fails) {
        throw new IllegalArgumentException("of the listener");
      }
      tokenNs.add(nowNs);
    }

    @Override
    public void onFinished(Request request, int[] answer, long nowNs) {
      finished++;
    }

    @Override
    public void onRejected(Request request, String reason, long nowNs) {
      throw new IllegalStateException(reason);
    }
  }

  private HashedRequest request(int id, int rank, int length) {
    int[] tokens = new int[length];
    TokenExpansion.fill(id, tokens, 0, length);
    Request request =
        Request.builder(id, tokens).maxNewTokens(ANSWER).targetRank(rank).relax(false).build();
    return new HashedRequest(request, hasher.hash(tokens, request.scope()));
  }

  private ReplayWorker worker(WorkerTally tally) {
    return new ReplayWorker(
        SETTINGS,
        0,
        false,
        new SoleCollective(2),
        RankPools.Place.HOST,
        hasher,
        rank -> new TimedStepEngine(SETTINGS.timing()),
        tally);
  }

  /** Arriving KV takes all of rank 0 but a block; a request waits there, and one runs on rank 1. */
  private void crowd(ReplayWorker worker, PacedWorker paced) {
    assertThat(worker.arriving().reserve(request(1, 0, POOL_TOKENS - BLOCK))).isNotNull();
    paced.submit(request(2, 0, 3 * BLOCK), 0);
    paced.submit(request(3, 1, 3 * BLOCK), 0);
  }

  @Test
  void theOtherRanksStepsTakeTheirTime() {
    WorkerTally tally = new WorkerTally(2, outcomes);
    try (ReplayWorker worker = worker(tally)) {
      PacedWorker paced = new PacedWorker(worker, tally);
      crowd(worker, paced);
      long nowNs = 0;
      for (int token = 0; token < ANSWER; token++) {
        paced.advance(nowNs, nowNs);
        assertThat(paced.nextNs()).isGreaterThan(nowNs).isLessThan(Arrivals.NEVER);
        nowNs = paced.nextNs();
        assertThat(outcomes.tokenNs).hasSize(token + 1).endsWith(nowNs);
      }
      paced.reportEnds(nowNs);
      assertThat(outcomes.finished).isEqualTo(1);

      paced.advance(nowNs, nowNs);
      assertThat(paced.nextNs()).as("nothing can run").isEqualTo(Arrivals.NEVER);
      worker.arriving().store(1);
      paced.submit(request(4, 1, BLOCK), nowNs);
      paced.advance(nowNs, nowNs);
      assertThat(outcomes.tokenNs).as("both ranks").hasSize(ANSWER + 2);
    }
  }

  @Test
  void theFailuresOfOtherRanksAreThrown() {
    WorkerTally tally = new WorkerTally(2, outcomes);
    try (ReplayWorker worker = worker(tally)) {
      PacedWorker paced = new PacedWorker(worker, tally);
      crowd(worker, paced);
      outcomes.fails = true;
      assertThatThrownBy(() -> paced.advance(0, 0))
          .isInstanceOf(CrowdedPoolException.class)
          .satisfies(
              failure ->
                  assertThat(failure.getSuppressed())
                      .hasAtLeastOneElementOfType(IllegalArgumentException.class));
    }
  }
}
