package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.model.Request;
import io.kvasir.simulator.trace.TokenExpansion;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.RequestSequence;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Bursts of long turns: in each, 40 turns of two conversations come within 1.8 s, as those of a
 * trace do at a higher speed. Turns that queue behind their predecessors on two ranks lengthen the
 * steps of six idle ones.
 */
class LongTurnsTest {

  private static final int TURNS = 40;

  /** Bursts every 30 s, in which conversations take turns. */
  @SuppressWarnings("ArrayRecordComponent")
  private record Bursts(long[] arrivals, int conversations, long seed) implements RequestSequence {

    static Bursts of(int bursts, int conversations, long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      long[] arrivals =
          LongStream.range(0, (long) bursts * TURNS)
              .map(i -> i / TURNS * 30_000_000_000L + random.nextLong(1_800_000_000L))
              .sorted()
              .toArray();
      return new Bursts(arrivals, conversations, seed);
    }

    @Override
    public String name() {
      return "bursts";
    }

    @Override
    public Map<String, Object> parameters() {
      return Map.of();
    }

    @Override
    public int size() {
      return arrivals.length;
    }

    @Override
    public long arrivalNs(int index) {
      return arrivals[index];
    }

    @Override
    public Request request(int index) {
      int burst = index / TURNS;
      int conversation = index % conversations;
      int turn = index % TURNS / conversations;
      int[] tokens = new int[10_000 + 26_000 * turn / (TURNS / conversations - 1)];
      TokenExpansion.fill(seed + 100L * burst + conversation, tokens, 0, tokens.length);
      return Request.builder(index, tokens)
          .maxNewTokens(100)
          .conversationId(burst + "." + conversation)
          .firstTurn(turn == 0)
          .build();
    }
  }

  private static double p95Ms(AdpRouterKind router, long seed) {
    ReplaySettings settings = new ReplaySettings(8, 1_000_000, 32).withRouter(router);
    return Replay.run(
            new OpenLoop(Bursts.of(4, 2, seed), 1),
            settings,
            RankPools.Place.HOST,
            ReplayProgress.SILENT)
        .ttft()
        .p95Ms();
  }

  @Test
  void turnsDoNotQueueBehindTheirPredecessorsBesideIdleRanks() {
    double projectedMs = 0;
    double bestMs = 0;
    for (long seed = 0; seed < 3; seed++) {
      projectedMs += p95Ms(AdpRouterKind.PROJECTED, seed);
      bestMs +=
          Math.min(
              p95Ms(AdpRouterKind.KV_CACHE_AWARE, seed), p95Ms(AdpRouterKind.CONVERSATION, seed));
    }
    assertThat(projectedMs / bestMs).isLessThan(1.05);
  }
}
