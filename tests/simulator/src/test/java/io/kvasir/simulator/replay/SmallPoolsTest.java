package io.kvasir.simulator.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.model.Request;
import io.kvasir.simulator.trace.TokenExpansion;
import io.kvasir.simulator.workload.OpenLoop;
import io.kvasir.simulator.workload.RequestSequence;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Agents that call tools, in pools that hold one or two of their longest prompts. */
class SmallPoolsTest {

  private static final int SYSTEM_PROMPT = 3_000;
  private static final int LONGEST_PROMPT = 12_600;

  /** A turn of a session. */
  private record Turn(int session, boolean first, long atNs, int tokens, int answer) {}

  /** Sessions of 4 to 14 turns behind one system prompt, at recorded times. */
  private record ToolCalls(List<Turn> turns) implements RequestSequence {

    static ToolCalls of(int sessions, long seed) {
      SplittableRandom random = new SplittableRandom(seed);
      List<Turn> turns = new ArrayList<>();
      double startSeconds = 0;
      for (int session = 0; session < sessions; session++) {
        startSeconds += exponential(random, 1.25);
        double seconds = startSeconds;
        int tokens = SYSTEM_PROMPT;
        int most = random.nextInt(4, 15);
        for (int turn = 0; turn < most; turn++) {
          tokens += 32 + lognormal(random, 500, 0.9, 3_000);
          if (tokens > LONGEST_PROMPT) {
            break;
          }
          int answer = 1 + lognormal(random, 100, 0.8, 800);
          turns.add(new Turn(session, turn == 0, Math.round(seconds * 1e9), tokens, answer));
          tokens += answer;
          seconds += exponential(random, 7.5) + 0.03 * answer;
        }
      }
      turns.sort(Comparator.comparingLong(Turn::atNs));
      return new ToolCalls(turns);
    }

    private static double exponential(RandomGenerator random, double mean) {
      return -mean * StrictMath.log(1 - random.nextDouble());
    }

    private static int lognormal(RandomGenerator random, int median, double sigma, int most) {
      double normal = 0;
      for (int i = 0; i < 12; i++) {
        normal += random.nextDouble() - 0.5;
      }
      return (int) Math.min(most, median * StrictMath.exp(sigma * normal));
    }

    @Override
    public String name() {
      return "tool calls";
    }

    @Override
    public Map<String, Object> parameters() {
      return Map.of();
    }

    @Override
    public int size() {
      return turns.size();
    }

    @Override
    public long arrivalNs(int index) {
      return turns.get(index).atNs();
    }

    @Override
    public Request request(int index) {
      Turn turn = turns.get(index);
      int[] tokens = new int[turn.tokens()];
      TokenExpansion.fill(1 + turn.session(), tokens, 0, tokens.length);
      TokenExpansion.fill(0, tokens, 0, SYSTEM_PROMPT);
      return Request.builder(index, tokens)
          .maxNewTokens(turn.answer())
          .conversationId("s" + turn.session())
          .firstTurn(turn.first())
          .build();
    }
  }

  private static double p95Ms(AdpRouterKind router, int poolTokens, long seed) {
    ReplaySettings settings = new ReplaySettings(8, poolTokens, 32).withRouter(router);
    ReplayResult result =
        Replay.run(
            new OpenLoop(ToolCalls.of(200, seed), 1),
            settings,
            RankPools.Place.HOST,
            ReplayProgress.SILENT);
    assertThat(result.rejected()).isZero();
    return result.ttft().p95Ms();
  }

  @ParameterizedTest
  @ValueSource(ints = {20_000, 25_000})
  void nobodyWaitsForRoomForLongerThanItTakesToComputeElsewhere(int poolTokens) {
    double projectedMs = 0;
    double kvCacheAwareMs = 0;
    for (long seed = 0; seed < 3; seed++) {
      projectedMs += p95Ms(AdpRouterKind.PROJECTED, poolTokens, seed);
      kvCacheAwareMs += p95Ms(AdpRouterKind.KV_CACHE_AWARE, poolTokens, seed);
    }
    assertThat(projectedMs).isLessThan(kvCacheAwareMs);
  }
}
