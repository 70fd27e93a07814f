package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Reason;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.WorkerRouter;
import io.kvasir.fleet.router.trtllm.ServeRules.Answer;
import io.kvasir.fleet.router.trtllm.ServeRules.Ask;
import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The routers that come from TensorRT-LLM follow its rules on random requests. */
class ServeRulesTest {

  private static final long SEED = 1126;
  private static final int ROUTERS = 25;
  private static final int REQUESTS = 320;
  private static final int LEAST_PLACED = 5000;
  private static final int BLOCK = 4;
  private static final int SERVERS = 6;

  @ParameterizedTest
  @CsvSource({
    "round_robin, ROUND_ROBIN",
    "load_balancing, LOAD",
    "load_balancing tokens, LOAD",
    "kv_cache_aware, SCORE PINNED",
    "conversation, STICKY IMPLICIT FALLBACK"
  })
  void choosesAsTheRulesSay(String policy, String reasons) {
    Map<Reason, Integer> placed = new EnumMap<>(Reason.class);
    for (int run = 0; run < ROUTERS; run++) {
      new Run(policy, SEED + run, placed).requests(REQUESTS);
    }

    assertThat(placed.keySet().stream().map(Reason::name))
        .containsExactlyInAnyOrder(reasons.split(" ", -1));
    assertThat(placed.values()).allMatch(count -> count > LEAST_PLACED / 20);
    assertThat(placed.values().stream().mapToInt(Integer::intValue).sum())
        .isGreaterThanOrEqualTo(LEAST_PLACED);
  }

  /** One router and the rules. */
  private static final class Run {
    private final String policy;
    private final long seed;
    private final Map<Reason, Integer> placed;
    private final Random random;
    private final ServeRules rules;
    private final FleetRouter router;
    private final List<Long> inFlight = new ArrayList<>();
    private final List<Long> attempts = new ArrayList<>();
    private final List<String> history = new ArrayList<>();

    Run(String policy, long seed, Map<Reason, Integer> placed) {
      this.policy = policy;
      this.placed = placed;
      this.seed = seed;
      this.random = new Random(seed);
      this.rules = rules();
      this.router = router();
    }

    private ServeRules rules() {
      return switch (policy) {
        case "kv_cache_aware" ->
            new KvCacheAwareRules(
                new KvCacheAwareRules.Args(
                    BLOCK,
                    random.nextInt(1, 8),
                    random.nextInt(4) / 4.0,
                    random.nextBoolean() ? 1e9 : random.nextInt(1, 5) / 4.0,
                    random.nextBoolean(),
                    random.nextInt(1, 20)));
        case "conversation" ->
            new ConversationServeRules(
                new ConversationServeRules.Args(
                    random.nextInt(1, 5) / 4.0,
                    BLOCK,
                    random.nextInt(3) * random.nextInt(3),
                    random.nextInt(1, 20)));
        case "round_robin" -> new ServeRules.RoundRobin();
        default -> new ServeRules.LoadBalancing(policy.endsWith("tokens"));
      };
    }

    private FleetRouter router() {
      String name = policy.replace(" tokens", "");
      return FleetRouterKind.named(name).create(rules.args(), FleetRouterSetup.of(BLOCK));
    }

    void requests(int count) {
      for (long id = 0; id < count; id++) {
        changeServers();
        finishSome();
        if (rules instanceof KvCacheAwareRules aware && !rules.loads.isEmpty()) {
          changeBlocks(aware);
        }
        route(id);
        rules.loads.forEach(
            (server, load) ->
                assertThat(((WorkerRouter<?>) router).load(server))
                    .as("load of %d, %s", server, this)
                    .isEqualTo(load));
      }
      router.close();
    }

    private void changeServers() {
      long server = random.nextInt(SERVERS);
      boolean known = rules.loads.containsKey(server);
      if (!known && random.nextInt(4) == 0) {
        history.add("add " + server);
        rules.add(server);
        router.addRank(new RankId(server, 0), RankCapacity.UNKNOWN);
      } else if (known && random.nextInt(20) == 0) {
        history.add("remove " + server);
        rules.remove(server);
        router.removeRank(new RankId(server, 0));
      }
    }

    private void finishSome() {
      while (!inFlight.isEmpty() && random.nextInt(3) > 0) {
        int index = random.nextInt(inFlight.size());
        boolean success = random.nextInt(5) > 0;
        history.add("finish " + inFlight.get(index) + " " + success);
        rules.finish(inFlight.remove(index), success);
        router.onFinished(attempts.remove(index), success);
      }
    }

    private void changeBlocks(KvCacheAwareRules aware) {
      List<Long> servers = List.copyOf(rules.loads.keySet());
      long server = servers.get(random.nextInt(servers.size()));
      long[] keys = ServeRules.blockKeys(tokens(), BLOCK);
      if (keys.length > 0 && random.nextInt(3) == 0) {
        history.add("stored " + server);
        aware.stored(server, keys);
        router.onBlocks(
            RankId.anyOf(server), BlockEvent.Stored.named(TrtllmHash.V1_BLOCK_KEY, keys));
      } else if (keys.length > 0 && random.nextInt(3) == 0) {
        history.add("removed " + server);
        long last = keys[keys.length - 1];
        aware.removed(server, last);
        router.onBlocks(
            RankId.anyOf(server), new BlockEvent.Removed(TrtllmHash.V1_BLOCK_KEY, last));
      }
    }

    private void route(long id) {
      Ask ask = ask();
      history.add("route " + id + " " + ask);
      Answer expected = rules.next(id, ask);
      RouteOutcome outcome = router.route(request(id, ask));
      if (expected == null) {
        assertThat(outcome).as("%s", this).isInstanceOf(RouteOutcome.Refused.class);
        return;
      }
      assertThat(outcome).as("%s", this).isInstanceOf(RouteOutcome.Placed.class);
      Placement placement = ((RouteOutcome.Placed) outcome).placement();
      assertThat(
              new Answer(
                  placement.rank().workerId(),
                  placement.matchedTokens(),
                  placement.conversationId(),
                  placement.firstTurn()))
          .as("%s", this)
          .isEqualTo(expected);
      placed.merge(placement.reason(), 1, Integer::sum);
      inFlight.add(id);
      attempts.add(placement.attempt());
    }

    private Ask ask() {
      String conversation = random.nextBoolean() ? "c" + random.nextInt(25) : null;
      long excluded = random.nextInt(5) == 0 ? random.nextInt(SERVERS) : Ask.NONE;
      boolean aware = policy.equals("kv_cache_aware");
      return switch (random.nextInt(3)) {
        case 0 -> new Ask(conversation, tokens(), null, List.of(), excluded);
        case 1 ->
            aware
                ? new Ask(conversation, tokens(), null, List.of(), excluded)
                : new Ask(conversation, null, text(), List.of(), excluded);
        default -> chat(conversation, aware, excluded);
      };
    }

    private Ask chat(String conversation, boolean aware, long excluded) {
      List<String> messages =
          random.ints(random.nextInt(1, 5), 0, 3).mapToObj(each -> "m" + each).toList();
      if (policy.startsWith("conversation")) {
        List<String> lines = messages.stream().map(each -> "user:" + each).toList();
        return new Ask(conversation, null, String.join("\n", lines), messages, excluded);
      }
      return new Ask(conversation, aware ? chatTokens() : null, null, messages, excluded);
    }

    /** Mostly a beginning that pins, and a rest that does not. */
    private int[] chatTokens() {
      int same = random.nextInt(4) > 0 ? 256 : 250;
      int kind = random.nextInt(2);
      return IntStream.range(0, same + random.nextInt(8))
          .map(i -> i < same ? kind : random.nextInt(4))
          .toArray();
    }

    /** A beginning that is often the same, long enough to matter or not. */
    private int[] tokens() {
      int same = random.nextInt(10) == 0 ? 300 : random.nextInt(30);
      int own = random.nextInt(8);
      int kind = random.nextInt(3);
      return IntStream.range(0, same + own)
          .map(i -> i < same ? kind + i % 7 : random.nextInt(4))
          .toArray();
    }

    private String text() {
      StringBuilder text = new StringBuilder();
      Arrays.stream(tokens())
          .forEach(token -> text.appendCodePoint(token == 5 ? 0x1f600 : 'a' + token));
      return text.toString();
    }

    private FleetRequest request(long id, Ask ask) {
      Prompt prompt;
      if (!ask.messages().isEmpty()) {
        prompt =
            new Prompt.Chat(
                ask.messages().stream().map(each -> new Prompt.Message("user", each)).toList());
      } else {
        prompt = ask.tokens() != null ? Prompt.of(ask.tokens()) : Prompt.of(ask.text());
      }
      FleetRequestBuilder request =
          FleetRequest.builder(id, prompt).conversationId(ask.conversation());
      if (!ask.messages().isEmpty() && ask.tokens() != null) {
        request.promptTokenIds(ask.tokens());
      }
      if (ask.excluded() != Ask.NONE) {
        request.filter(RankFilter.exclude(Set.of(RankId.anyOf(ask.excluded()))));
      }
      return request.build();
    }

    @Override
    public String toString() {
      int from = Math.max(0, history.size() - 12);
      return policy + ", seed " + seed + ": " + history.subList(from, history.size());
    }
  }
}
