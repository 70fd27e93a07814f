package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.fleet.router.Prompt;
import io.kvasir.model.CacheScope;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ConversationRouterTest {

  private static final ConversationRouterOptions FOURS =
      new ConversationRouterOptions(0.75, 4, false, 0, 100, 3);

  private static ServeRequest tokens(int from, int count) {
    return ServeRequest.of(Prompt.of(IntStream.range(from, from + count).toArray()));
  }

  /** B30: 100,000 sessions by default, and content decides, not the number of requests. */
  @Test
  void newConversationsGoWhereTheLeastContentIs() {
    assertThat(ConversationRouterOptions.DEFAULT.maxSessions()).isEqualTo(100_000);
    ConversationRouter router =
        new ConversationRouter(List.of("s1", "s2"), FOURS, Tokenizer.CODE_POINTS);
    assertThat(router.next(tokens(0, 400), null).server()).isEqualTo("s1");
    for (int i = 0; i < 9; i++) {
      assertThat(router.next(tokens(1000 * (i + 1), 9), null).server()).isEqualTo("s2");
    }
    assertThat(router.load("s1")).isEqualTo(400);
    assertThat(router.load("s2")).isEqualTo(72);
  }

  @Test
  void memoryIsBoundedByBlocksToo() {
    ConversationRouter router =
        new ConversationRouter(List.of("s1"), FOURS, Tokenizer.CODE_POINTS, 10);
    for (int i = 0; i < 5; i++) {
      router.next(tokens(1000 * i, 17), null);
      assertThat(router.blockCount()).isLessThanOrEqualTo(10);
    }
    assertThat(router.sessionCount()).isEqualTo(2);
    router.next(tokens(9000, 101), null);
    assertThat(router.sessionCount()).as("one may be larger, but alone").isEqualTo(1);
    assertThat(router.nodeCount("s1")).isEqualTo(25);
  }

  @Test
  void whatIsForgottenLeavesNothingBehind() {
    ConversationRouterOptions one = new ConversationRouterOptions(0.75, 4, false, 0, 1, 0);
    ConversationRouter router = new ConversationRouter(List.of("s1"), one, Tokenizer.CODE_POINTS);
    router.next(tokens(0, 41), null);
    assertThat(router.nodeCount("s1")).isEqualTo(10);
    router.next(tokens(0, 45), null);
    assertThat(router.nodeCount("s1")).as("grown").isEqualTo(11);
    router.next(tokens(0, 45).withConversation("named"), null);
    assertThat(router.sessionCount()).isEqualTo(1);
    assertThat(router.nodeCount("s1")).isZero();
    assertThat(router.blockCount()).isZero();
  }

  @Test
  void removingAServerForgetsItsConversations() {
    ConversationRouter router =
        new ConversationRouter(List.of("s1", "s2"), FOURS, Tokenizer.CODE_POINTS);
    router.next(tokens(0, 41), "s2");
    router.next(tokens(5000, 9), "s1");
    router.removeServer("s1");
    assertThat(router.sessionCount()).isEqualTo(1);
    assertThat(router.blockCount()).isEqualTo(2);
  }

  /** B17: the same text for another adapter or tenant is another conversation. */
  @Test
  void adaptersAndSaltsKeepConversationsApart() {
    ConversationRouter router =
        new ConversationRouter(List.of("s1", "s2"), FOURS, Tokenizer.CODE_POINTS);
    router.next(tokens(0, 41), null);
    ServeRequest adapted = tokens(0, 41).withScope(CacheScope.NONE.withLora(1));
    assertThat(router.next(adapted, null).explanation().reason()).isEqualTo(ServeReason.FALLBACK);
    assertThat(router.next(adapted, null).explanation().reason()).isEqualTo(ServeReason.IMPLICIT);
  }

  @Test
  void aMadeUpConversationKeepsItsName() {
    ConversationRouter router =
        new ConversationRouter(List.of("s1", "s2"), FOURS, Tokenizer.CODE_POINTS);
    assertThat(router.next(tokens(0, 41), null).explanation().conversationId())
        .isEqualTo("conv_id:3_1");
    assertThat(router.next(tokens(500, 41), null).explanation().conversationId())
        .isEqualTo("conv_id:3_2");
    assertThat(router.next(tokens(0, 45), null).explanation().conversationId())
        .isEqualTo("conv_id:3_1");
  }

  @Test
  void tokenisesOnlyWhatIsCompared() {
    ConversationRouterOptions asTokens = new ConversationRouterOptions(0.75, 4, true, 0, 9, 0);
    int[] calls = {0};
    Tokenizer counting =
        prompt -> {
          calls[0]++;
          return List.of(new int[9]);
        };
    ConversationRouter router = new ConversationRouter(List.of("s1"), asTokens, counting);
    ServeRequest text = ServeRequest.of(Prompt.of("text"));
    router.next(text.withConversation("a"), null);
    assertThat(calls[0]).as("a named conversation").isZero();
    assertThat(router.next(text, null).explanation().promptTokens()).hasSize(1);
    assertThat(calls[0]).isEqualTo(1);
    assertThat(router.load("s1")).isEqualTo(1 + 8);
  }

  @Test
  void ofEquallyAlikeConversationsTheLatestIsContinued() {
    ConversationRouter router =
        new ConversationRouter(
            List.of("s1", "s2"),
            new ConversationRouterOptions(1, 4, false, 0, 9, 0),
            Tokenizer.CODE_POINTS);
    int[] shared = IntStream.range(0, 17).toArray();
    ServeRequest left = ServeRequest.of(Prompt.of(withTail(shared, 100)));
    ServeRequest right = ServeRequest.of(Prompt.of(withTail(shared, 200)));
    ServeRequest both = ServeRequest.of(Prompt.of(shared));
    assertThat(router.next(left, "s2").server()).isEqualTo("s1");
    assertThat(router.next(right, "s1").server()).isEqualTo("s2");
    router.next(left, null);
    assertThat(router.next(both, null).server()).isEqualTo("s1");
  }

  private static int[] withTail(int[] head, int tail) {
    int[] all = java.util.Arrays.copyOf(head, head.length + 8);
    java.util.Arrays.fill(all, head.length, all.length, tail);
    return all;
  }
}
