package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.Reason;
import io.kvasir.model.CacheScope;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ConversationFleetRouterTest {

  private static final ConversationRouterOptions FOURS =
      new ConversationRouterOptions(0.75, 4, false, 0, 100, 3);

  private static NamedFleet fleet(ConversationRouterOptions options, String... workers) {
    return new NamedFleet(new ConversationFleetRouter(options), workers);
  }

  private static ConversationFleetRouter router(NamedFleet fleet) {
    return (ConversationFleetRouter) fleet.router();
  }

  private static FleetRequestBuilder tokens(int from, int count) {
    return FleetRequest.builder(1, Prompt.of(IntStream.range(from, from + count).toArray()));
  }

  /** B30: 100,000 sessions by default; the limit counts content, not requests. */
  @Test
  void newConversationsGoWhereTheLeastContentIs() {
    assertThat(ConversationRouterOptions.DEFAULT.maxSessions()).isEqualTo(100_000);
    NamedFleet fleet = fleet(FOURS, "s1", "s2");
    assertThat(fleet.worker(tokens(0, 400))).isEqualTo("s1");
    for (int i = 0; i < 9; i++) {
      assertThat(fleet.worker(tokens(1000 * (i + 1), 9))).isEqualTo("s2");
    }
    assertThat(fleet.load("s1")).isEqualTo(400);
    assertThat(fleet.load("s2")).isEqualTo(72);
  }

  @Test
  void memoryIsBoundedByBlocksToo() {
    NamedFleet fleet = new NamedFleet(new ConversationFleetRouter(FOURS, 10), "s1");
    for (int i = 0; i < 5; i++) {
      fleet.place(tokens(1000 * i, 17));
      assertThat(router(fleet).blockCount()).isLessThanOrEqualTo(10);
    }
    assertThat(router(fleet).sessionCount()).isEqualTo(2);
    fleet.place(tokens(9000, 101));
    assertThat(router(fleet).sessionCount()).as("one may be larger, but alone").isEqualTo(1);
    assertThat(router(fleet).nodeCount(fleet.id("s1"))).isEqualTo(25);
  }

  @Test
  void whatIsForgottenLeavesNothingBehind() {
    ConversationRouterOptions one = new ConversationRouterOptions(0.75, 4, false, 0, 1, 0);
    NamedFleet fleet = fleet(one, "s1");
    fleet.place(tokens(0, 41));
    assertThat(router(fleet).nodeCount(fleet.id("s1"))).isEqualTo(10);
    fleet.place(tokens(0, 45));
    assertThat(router(fleet).nodeCount(fleet.id("s1"))).as("grown").isEqualTo(11);
    fleet.place(tokens(0, 45).conversationId("named"));
    assertThat(router(fleet).sessionCount()).isEqualTo(1);
    assertThat(router(fleet).nodeCount(fleet.id("s1"))).isZero();
    assertThat(router(fleet).blockCount()).isZero();
  }

  @Test
  void subagentsGoWhereTheirParentIs() {
    NamedFleet fleet = fleet(FOURS, "s1", "s2");
    Placement parent = fleet.place(tokens(0, 9).conversationId("p"));
    Placement other = fleet.place(tokens(0, 9).conversationId("q"));
    Placement subagent = fleet.place(tokens(0, 9).conversationId("q").subagentAffinityId("p"));

    assertThat(other.rank()).isNotEqualTo(parent.rank());
    assertThat(subagent.rank()).isEqualTo(parent.rank());
    assertThat(subagent.conversationId()).as("its own").isEqualTo("q");
    assertThat(subagent.reason()).isEqualTo(Reason.STICKY);
    assertThat(fleet.place(tokens(0, 9).conversationId("q").subagentAffinityId(" ")).rank())
        .isEqualTo(other.rank());
    assertThat(fleet.place(tokens(0, 9).subagentAffinityId("p")).rank())
        .as("without an id of its own")
        .isEqualTo(parent.rank());
  }

  @Test
  void removingAWorkerForgetsItsConversations() {
    NamedFleet fleet = fleet(FOURS, "s1", "s2");
    fleet.place(tokens(0, 41), "s2");
    fleet.place(tokens(5000, 9), "s1");
    fleet.remove("s1");
    assertThat(router(fleet).sessionCount()).isEqualTo(1);
    assertThat(router(fleet).blockCount()).isEqualTo(2);
  }

  /** B17: the same text for another adapter or tenant is another conversation. */
  @Test
  void adaptersAndSaltsKeepConversationsApart() {
    NamedFleet fleet = fleet(FOURS, "s1", "s2");
    fleet.place(tokens(0, 41));
    FleetRequestBuilder adapted = tokens(0, 41).scope(CacheScope.NONE.withLora(1));
    assertThat(fleet.place(adapted).reason()).isEqualTo(Reason.FALLBACK);
    assertThat(fleet.place(adapted).reason()).isEqualTo(Reason.IMPLICIT);
  }

  @Test
  void aMadeUpConversationKeepsItsName() {
    NamedFleet fleet = fleet(FOURS, "s1", "s2");
    assertThat(fleet.place(tokens(0, 41)).conversationId()).isEqualTo("conv_id:3_1");
    assertThat(fleet.place(tokens(500, 41)).conversationId()).isEqualTo("conv_id:3_2");
    assertThat(fleet.place(tokens(0, 45)).conversationId()).isEqualTo("conv_id:3_1");
  }

  @Test
  void asksForTokensOnlyWhereItComparesThem() {
    ConversationRouterOptions asTokens = new ConversationRouterOptions(0.75, 4, true, 0, 9, 0);
    NamedFleet fleet = fleet(asTokens, "s1");
    FleetRequestBuilder text = FleetRequest.builder(1, Prompt.of("text"));
    assertThat(fleet.router().readsTokens(text.build())).isTrue();
    assertThat(fleet.router().readsTokens(text.conversationId("a").build()))
        .as("a named conversation")
        .isFalse();
    fleet.place(text);
    fleet.place(text.conversationId(null).tokens(List.of(new int[9])));
    assertThat(fleet.load("s1")).isEqualTo(1 + 8);
  }

  /** Tokens that the caller produced for another purpose do not replace the text. */
  @Test
  void aTextIsWeighedByItsCharactersEvenIfItsTokensAreThere() {
    NamedFleet fleet = fleet(FOURS, "s1");
    String text = "twenty-six characters long";
    FleetRequestBuilder tokenised =
        FleetRequest.builder(1, Prompt.of(text)).tokens(List.of(new int[2]));
    assertThat(fleet.place(FleetRequest.builder(1, Prompt.of(text))).reason())
        .isEqualTo(Reason.FALLBACK);
    long one = fleet.load("s1");
    assertThat(fleet.place(tokenised).reason()).isEqualTo(Reason.IMPLICIT);
    assertThat(fleet.load("s1")).isEqualTo(2 * one);
    fleet.place(tokenised.conversationId("a"));
    assertThat(fleet.load("s1")).isEqualTo(2 * one + 26 / 5);
    fleet.place(tokenised.promptTokenIds(new int[3]));
    assertThat(fleet.load("s1")).as("the client's own tokens").isEqualTo(2 * one + 26 / 5 + 3);
  }

  @Test
  void aDemandMovesTheConversation() {
    NamedFleet fleet = fleet(FOURS, "s1", "s2");
    FleetRequestBuilder named = tokens(0, 41).conversationId("a");
    assertThat(fleet.worker(named)).isEqualTo("s1");
    assertThat(fleet.worker(named.filter(RankFilter.pinWorker(fleet.id("s2"))))).isEqualTo("s2");
    Placement next = fleet.place(named.filter(RankFilter.ANY));
    assertThat(fleet.name(next.rank())).isEqualTo("s2");
    assertThat(next.reason()).isEqualTo(Reason.STICKY);
  }

  @Test
  void ofEquallyAlikeConversationsTheLatestIsContinued() {
    NamedFleet fleet = fleet(new ConversationRouterOptions(1, 4, false, 0, 9, 0), "s1", "s2");
    int[] shared = IntStream.range(0, 17).toArray();
    FleetRequestBuilder left = FleetRequest.builder(1, Prompt.of(withTail(shared, 100)));
    FleetRequestBuilder right = FleetRequest.builder(1, Prompt.of(withTail(shared, 200)));
    FleetRequestBuilder both = FleetRequest.builder(1, Prompt.of(shared));
    assertThat(fleet.worker(left, "s2")).isEqualTo("s1");
    assertThat(fleet.worker(right, "s1")).isEqualTo("s2");
    fleet.place(left);
    assertThat(fleet.worker(both)).isEqualTo("s1");
  }

  private static int[] withTail(int[] head, int tail) {
    int[] all = java.util.Arrays.copyOf(head, head.length + 8);
    java.util.Arrays.fill(all, head.length, all.length, tail);
    return all;
  }
}
