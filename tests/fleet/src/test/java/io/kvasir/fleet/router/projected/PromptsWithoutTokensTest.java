package io.kvasir.fleet.router.projected;

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
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests whose tokens are unknown are placed by their text, their conversation and load. */
class PromptsWithoutTokensTest {

  private static final int RANKS = 4;
  private static final long MS = 1_000_000;
  private static final String INSTRUCTION =
      "Answer in one word whether the text is friendly. ".repeat(40);

  private final List<FleetRouter> open = new ArrayList<>();
  private long nowNs;
  private long ids;

  private FleetRouter router(String policy) {
    FleetRouter router =
        FleetRouterKind.named(policy)
            .create(Map.of(), new FleetRouterSetup(HashFormat.KVASIR, 16, () -> nowNs, Map.of()));
    for (int rank = 0; rank < RANKS; rank++) {
      router.addRank(new RankId(rank, 0), RankCapacity.UNKNOWN);
    }
    open.add(router);
    return router;
  }

  @AfterEach
  void close() {
    open.forEach(FleetRouter::close);
  }

  private static Prompt.Message user(String text) {
    return new Prompt.Message("user", text);
  }

  private Placement place(FleetRouter router, FleetRequestBuilder request) {
    nowNs += MS;
    return ((RouteOutcome.Placed) router.route(request.build())).placement();
  }

  private Placement place(FleetRouter router, Prompt prompt) {
    return place(router, FleetRequest.builder(++ids, prompt));
  }

  private void serve(FleetRouter router, Placement placement) {
    nowNs += 50 * MS;
    router.onTokens(placement.attempt(), 1);
    nowNs += 50 * MS;
    router.onFinished(placement.attempt(), true);
  }

  private static Map<RankId, Integer> spread(List<Placement> placements) {
    Map<RankId, Integer> spread = new HashMap<>();
    placements.forEach(placement -> spread.merge(placement.rank(), 1, Integer::sum));
    return spread;
  }

  /** A classifier, a batch of completions, pictures with one text: a burst at the start. */
  @ParameterizedTest
  @ValueSource(strings = {"chat", "completion", "equal"})
  void requestsThatShareOnlyTheirHeadAreSpread(String kind) {
    FleetRouter router = router("affinity");
    List<Placement> placements = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      Prompt prompt =
          switch (kind) {
            case "chat" ->
                new Prompt.Chat(
                    List.of(new Prompt.Message("system", INSTRUCTION), user("Text " + i)));
            case "completion" -> Prompt.of(INSTRUCTION + "Text " + i);
            default -> Prompt.of(INSTRUCTION);
          };
      placements.add(place(router, prompt));
    }
    assertThat(spread(placements).values()).hasSize(RANKS).allMatch(count -> count >= 8);
  }

  /** One request after the other, so load says nothing. */
  @ParameterizedTest
  @ValueSource(strings = {"affinity", "projected", "cost", "approximate"})
  void conversationsWithoutIdsStayOnTheirRank(String policy) {
    FleetRouter router = router(policy);
    for (int conversation = 0; conversation < 8; conversation++) {
      List<Prompt.Message> messages = new ArrayList<>();
      messages.add(new Prompt.Message("system", INSTRUCTION));
      messages.add(user("Question %d. ".formatted(conversation) + "It is long. ".repeat(40)));
      RankId home = null;
      for (int turn = 0; turn < 5; turn++) {
        Placement placement = place(router, new Prompt.Chat(messages));
        if (home != null) {
          assertThat(placement.rank()).as("turn %d", turn).isEqualTo(home);
          assertThat(placement.matchedTokens()).isGreaterThan(600);
        }
        home = placement.rank();
        serve(router, placement);
        serve(router, place(router, Prompt.of("Somebody else asks something. ".repeat(9) + ids)));
        messages.add(new Prompt.Message(Prompt.Message.ASSISTANT, "Yes, " + turn));
        messages.add(user("And then? ".repeat(20)));
      }
    }
  }

  /** API gateways give each request an id of its own. */
  @Test
  void anIdThatIsNewEachTimeHidesNoBeginning() {
    FleetRouter router = router("affinity");
    for (int conversation = 0; conversation < 4; conversation++) {
      List<Prompt.Message> messages = new ArrayList<>();
      messages.add(user("Conversation %d. ".formatted(conversation) + "A beginning. ".repeat(60)));
      RankId home = null;
      for (int turn = 0; turn < 5; turn++) {
        Placement placement =
            place(
                router,
                FleetRequest.builder(++ids, new Prompt.Chat(messages))
                    .conversationId("request-" + ids));
        assertThat(placement.rank()).isEqualTo(home == null ? placement.rank() : home);
        home = placement.rank();
        serve(router, placement);
        serve(router, place(router, new Prompt.Chat(List.of(user("other " + ids)))));
        messages.add(new Prompt.Message(Prompt.Message.ASSISTANT, "one two"));
        messages.add(user("Go on."));
      }
    }
  }

  /** A tokenizer that was in time for the first turns, and fails for a later one. */
  @ParameterizedTest
  @ValueSource(strings = {"projected", "cost", "approximate"})
  void tokensThatAreLateCostNoConversationItsRank(String policy) {
    FleetRouter router = router(policy);
    String text = "A conversation that goes on. ".repeat(100);
    int[] tokens = text.chars().toArray();
    Placement first =
        place(router, FleetRequest.builder(++ids, Prompt.of(text)).tokens(List.of(tokens)));
    serve(router, first);
    serve(router, place(router, Prompt.of("Somebody else. ".repeat(30))));
    Placement late = place(router, FleetRequest.builder(++ids, Prompt.of(text + "And then?")));
    assertThat(late.rank()).isEqualTo(first.rank());
    assertThat(late.matchedTokens()).isGreaterThan(600);
  }

  /** A conversation of pictures: its prompts have no text, but an id. */
  @ParameterizedTest
  @ValueSource(strings = {"affinity", "projected", "cost", "approximate"})
  void aConversationWithAnIdStaysWithoutAnyText(String policy) {
    FleetRouter router = router(policy);
    Placement first = place(router, pictures("album", 2_000));
    serve(router, first);
    for (int other = 0; other < 5; other++) {
      serve(router, place(router, Prompt.of("Somebody else. " + other)));
    }
    Placement second = place(router, pictures("album", 3_000));
    assertThat(second.rank()).isEqualTo(first.rank());
    assertThat(second.matchedTokens()).isEqualTo(2_000);
    assertThat(place(router, pictures("another", 3_000)).matchedTokens()).isZero();
  }

  private FleetRequestBuilder pictures(String conversation, int tokens) {
    return FleetRequest.builder(++ids, Prompt.of(""))
        .conversationId(conversation)
        .inputTokens(tokens);
  }

  @Test
  void affinityYieldsToLoad() {
    FleetRouter router = router("affinity");
    String document = "A short document. ".repeat(30);
    Placement home = place(router, Prompt.of(document));
    serve(router, home);
    Placement busy =
        place(
            router,
            FleetRequest.builder(++ids, Prompt.of("Something very long. ".repeat(20_000)))
                .filter(RankFilter.pin(home.rank())));
    assertThat(busy.rank()).isEqualTo(home.rank());
    assertThat(place(router, Prompt.of(document + "Summarise.")).rank()).isNotEqualTo(home.rank());
  }

  @Test
  void anExcludedRankLosesItsConversation() {
    FleetRouter router = router("affinity");
    Placement first = place(router, pictures("album", 2_000));
    serve(router, first);
    Placement second =
        place(router, pictures("album", 3_000).filter(RankFilter.exclude(Set.of(first.rank()))));
    assertThat(second.rank()).isNotEqualTo(first.rank());
    serve(router, second);
    assertThat(place(router, pictures("album", 4_000)).rank()).isEqualTo(second.rank());
  }

  @ParameterizedTest
  @ValueSource(strings = {"removed", "cleared", "expired"})
  void whatARankNoLongerHoldsMatchesNothing(String how) {
    FleetRouter router = router("projected");
    String text = "A prompt. ".repeat(100);
    Placement first = place(router, Prompt.of(text));
    serve(router, first);
    switch (how) {
      case "removed" -> {
        router.removeRank(first.rank());
        router.addRank(first.rank(), RankCapacity.UNKNOWN);
      }
      case "cleared" -> router.onBlocks(first.rank(), new BlockEvent.Cleared());
      default -> nowNs += 601_000 * MS;
    }
    assertThat(place(router, Prompt.of(text + "More.")).matchedTokens()).isZero();
  }

  /** The text of a prompt can be more than the tokens that the caller expects. */
  @Test
  void noMoreBlocksCountThanTheTokensFill() {
    FleetRouter router = router("projected");
    String text = "A prompt. ".repeat(100);
    Placement first = place(router, Prompt.of(text));
    Placement placement =
        place(
            router,
            FleetRequest.builder(++ids, Prompt.of(text))
                .inputTokens(40)
                .filter(RankFilter.pin(first.rank())));
    assertThat(placement.matchedTokens()).isEqualTo(32);
  }
}
