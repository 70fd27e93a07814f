package io.kvasir.engine.adp;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The {@code conversation} router follows TensorRT-LLM's rules on random batches. */
class ConversationRulesTest {

  private static final int ROUTERS = 100;
  private static final int BATCHES = 50;
  private static final long SEED = 1126;

  @ParameterizedTest
  @ValueSource(strings = {"least_tokens", "least_queued", "round_robin"})
  void placesAsTheRulesSay(String newConversations) {
    for (int run = 0; run < ROUTERS; run++) {
      Random random = new Random(SEED + run);
      int ranks = 1 + random.nextInt(8);
      int maxSessions = 1 + random.nextInt(20);
      double multiplier = 1 + random.nextInt(9) / 4.0;
      ConversationRules rules =
          new ConversationRules(ranks, multiplier, maxSessions, newConversations);
      AdpRouter router =
          new ConversationAdpRouter(
              ranks,
              multiplier,
              maxSessions,
              NewConversationPlacement.named(newConversations),
              null);
      for (int batch = 0; batch < BATCHES; batch++) {
        int most = 1 + random.nextInt(6);
        List<RankState> states = states(ranks, most, random);
        List<Request> requests = requests(ranks, random);
        Assignment assignment = router.route(states, requests, PrefixMatches.NONE, most);

        ConversationRules.Placed expected = rules.route(states, requests, most);
        assertThat(
                assignment.decisions().stream()
                    .map(decision -> decision.request().id() + " -> " + decision.rank()))
            .as(
                "seed %d, batch %d of %s, at most %d on %s",
                SEED + run, batch, requests, most, states)
            .containsExactlyElementsOf(expected.placements());
        assertThat(assignment.expectedActiveRequests())
            .as("seed %d, batch %d", SEED + run, batch)
            .isEqualTo(expected.expected());
        assertThat(assignment.unassigned()).isEmpty();
      }
    }
  }

  private static List<RankState> states(int ranks, int most, Random random) {
    List<RankState> states = new ArrayList<>();
    boolean idle = random.nextInt(3) == 0;
    for (int rank = 0; rank < ranks; rank++) {
      int active = idle ? 0 : random.nextInt(most + 2);
      states.add(new RankState(rank, active, 10L * active * random.nextInt(3)));
    }
    return states;
  }

  private static List<Request> requests(int ranks, Random random) {
    List<Request> requests = new ArrayList<>();
    for (int id = random.nextInt(10); id >= 0; id--) {
      Request.Builder request = Request.builder(id, new int[random.nextInt(4) * 10]);
      if (random.nextInt(4) > 0) {
        request.conversationId("c" + random.nextInt(25));
      }
      if (random.nextInt(6) == 0) {
        request.subagentAffinityId("c" + random.nextInt(25));
      }
      if (random.nextInt(4) == 0) {
        request.targetRank(random.nextInt(ranks));
      }
      if (random.nextInt(4) == 0) {
        request.relax(random.nextBoolean());
      }
      requests.add(request.build());
    }
    return requests;
  }
}
