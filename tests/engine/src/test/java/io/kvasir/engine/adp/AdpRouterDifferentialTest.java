package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.testing.harness.LongRuns;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The routers against the oracle on random histories of calls. {@code -Dkvasir.test.seed} repeats
 * one.
 */
class AdpRouterDifferentialTest {

  private static final int CASES = LongRuns.cases(2_000, 100_000);
  private static final long SEED = Long.getLong("kvasir.test.seed", 0x6b7661736972L);

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "PROJECTED")
  void decidesLikeTheOracle(AdpRouterKind kind) {
    int calls = 0;
    for (long seed = SEED; calls < CASES; seed++) {
      calls += compareHistory(kind, seed);
    }
  }

  private static int compareHistory(AdpRouterKind kind, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    RandomBatches batches = new RandomBatches(random);
    int ranks = batches.ranks();
    AttentionDpConfig config = batches.config();
    BlockDemand demand = batches.demand();
    AdpRouter router = kind.create(ranks, config, demand, random.nextBoolean());
    OracleRouters oracle = new OracleRouters(kind, ranks, config, demand);
    int calls = 1 + random.nextInt(6);
    for (int call = 0; call < calls; call++) {
      RandomBatches.Batch batch = batches.next(ranks);
      Assignment assignment =
          router.route(
              batch.states(), batch.requests(), batch.matches(), batch.maxActiveRequests());
      OracleRouters.Answer expected =
          oracle.route(
              batch.states(), batch.requests(), batch.matches(), batch.maxActiveRequests());
      assertThat(answer(assignment, batch))
          .as("%s, -Dkvasir.test.seed=%d, call %d, %s", kind, seed, call, config)
          .isEqualTo(expected);
      if (router instanceof KvCacheAwareAdpRouter cacheAware) {
        assertThat(cacheAware.warmupPending().stream().boxed())
            .as("%s, -Dkvasir.test.seed=%d, call %d, pending warm-up", kind, seed, call)
            .containsExactlyElementsOf(oracle.warmupPending);
      }
      if (router instanceof ConversationAdpRouter conversations) {
        assertThat(conversations.bindings().entrySet())
            .as("%s, -Dkvasir.test.seed=%d, call %d, bindings", kind, seed, call)
            .containsExactlyElementsOf(oracle.bindings.entrySet());
      }
    }
    return calls;
  }

  private static OracleRouters.Answer answer(Assignment assignment, RandomBatches.Batch batch) {
    List<OracleRouters.Placement> placements = new ArrayList<>();
    for (Decision decision : assignment.decisions()) {
      assertThat(decision.request()).isSameAs(batch.requests().get(decision.requestIndex()));
      placements.add(
          new OracleRouters.Placement(
              decision.requestIndex(),
              decision.rank(),
              decision.reason(),
              decision.matchedTokens(),
              decision.affinityActive(),
              decision.maxMatch()));
    }
    List<Integer> unassigned = new ArrayList<>();
    int next = 0;
    for (int i = 0; i < batch.requests().size(); i++) {
      if (next < assignment.unassigned().size()
          && assignment.unassigned().get(next) == batch.requests().get(i)) {
        unassigned.add(i);
        next++;
      }
    }
    assertThat(next).as("unassigned, in batch order").isEqualTo(assignment.unassigned().size());
    List<Long> tokens = new ArrayList<>();
    for (long count : assignment.activeTokensAfter()) {
      tokens.add(count);
    }
    return new OracleRouters.Answer(
        placements, unassigned, assignment.expectedActiveRequests(), tokens);
  }
}
