package io.kvasir.fleet.router.projected;

import static io.kvasir.fleet.router.projected.ProjectedRouters.place;
import static io.kvasir.fleet.router.projected.ProjectedRouters.prompt;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which ranks the turns of conversations go to. */
class ConversationsTest {

  private static final long MS = 1_000_000;
  private static final int BLOCK = ProjectedRouters.TOKENS_PER_BLOCK;

  private final List<FleetRouter> open = new ArrayList<>();
  private long nowNs;
  private long ids;

  private FleetRouter router(int ranks) {
    FleetRouter router = ProjectedRouters.of(ranks, Map.of(), () -> nowNs);
    open.add(router);
    return router;
  }

  @AfterEach
  void close() {
    open.forEach(FleetRouter::close);
  }

  @Test
  void conversationsThatReturnAreSpread() {
    FleetRouter router = router(4);
    Map<String, Integer> turns = new HashMap<>();
    Map<String, Long> homes = new HashMap<>();
    int[] perRank = new int[4];
    int moved = 0;
    for (int i = 0; i < 400; i++) {
      String id = "c" + i % 20;
      int turn = turns.merge(id, 1, Integer::sum);
      int[] head = prompt(1, 3000); // a system prompt of all
      int[] prompt = Arrays.copyOf(head, 3000 + 200 * turn);
      Arrays.fill(prompt, 3000, prompt.length, 100_000 + i % 20);
      Placement placement =
          place(router, FleetRequest.builder(++ids, Prompt.of(prompt)).conversationId(id).build());
      long worker = placement.rank().workerId();
      perRank[(int) worker]++;
      moved += i < 200 || homes.getOrDefault(id, worker) == worker ? 0 : 1;
      homes.put(id, worker);
      nowNs += 100 * MS;
      router.onTokens(placement.attempt(), 1);
      router.onFinished(placement.attempt(), true);
    }
    assertThat(Arrays.stream(perRank).boxed()).allMatch(count -> count >= 60 && count <= 140);
    assertThat(moved).as("in the second half").isLessThan(10);
  }

  /**
   * Conversations share a system prompt. They get the same workers with ids and without, and each
   * has a name of its own.
   */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2})
  void conversationsWithoutIdsAreRecognisedByTheirPrompts(long seed) {
    List<Long> named = servedBy(seed, true);
    assertThat(servedBy(seed, false)).isEqualTo(named);
  }

  private List<Long> servedBy(long seed, boolean ids) {
    FleetRouter router = router(4);
    Random random = new Random(seed);
    int[] system = new Random(99).ints(40 * BLOCK + 5, 0, 30_000).toArray();
    List<int[]> talks = new ArrayList<>();
    List<Long> workers = new ArrayList<>();
    List<String> names = new ArrayList<>();
    nowNs = 0;
    for (int i = 0; i < 400; i++) {
      nowNs += (1 + random.nextInt(300)) * MS;
      int talk = random.nextInt(talks.size() + 1);
      if (talk == talks.size()) {
        talks.add(system);
      }
      int[] before = talks.get(talk);
      int more = 2 * BLOCK + random.nextInt(50 * BLOCK);
      int[] prompt = Arrays.copyOf(before, before.length + more);
      for (int at = before.length; at < prompt.length; at++) {
        prompt[at] = random.nextInt(30_000);
      }
      talks.set(talk, prompt);
      FleetRequestBuilder request = FleetRequest.builder(i, Prompt.of(prompt));
      Placement placement =
          place(router, ids ? request.conversationId("c" + talk).build() : request.build());
      workers.add(placement.rank().workerId());
      if (talk == names.size()) {
        assertThat(names).doesNotContain(placement.conversationId());
        names.add(placement.conversationId());
      }
      assertThat(placement.conversationId()).isNotNull().isEqualTo(names.get(talk));
      nowNs += 40 * MS;
      router.onTokens(placement.attempt(), 1);
      router.onFinished(placement.attempt(), true);
    }
    return workers;
  }

  /** Agents that work for days: all turns but the first ones continue a conversation. */
  @Test
  void conversationsWithoutAnEndStayOnTheirRanks() {
    FleetRouter router =
        ProjectedRouters.of(4, Map.of("router_predicted_ttl_secs", 1e6), () -> nowNs);
    open.add(router);
    long[] homes = new long[50];
    int moved = 0;
    for (int i = 0; i < 16_000; i++) {
      int talk = i % homes.length;
      int[] prompt = prompt(100 + talk, 1_000);
      prompt[999] = i;
      Placement placement =
          place(
              router,
              FleetRequest.builder(i, Prompt.of(prompt)).conversationId("c" + talk).build());
      long worker = placement.rank().workerId();
      moved += i < 8_000 || homes[talk] == worker ? 0 : 1;
      homes[talk] = worker;
      nowNs += 100 * MS;
      router.onTokens(placement.attempt(), 1);
      router.onFinished(placement.attempt(), true);
    }
    assertThat(moved).as("in the second half").isZero();
  }
}
