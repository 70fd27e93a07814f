package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.CacheScope;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KvCacheAwareRouterTest {

  private static final int[] PROMPT = IntStream.range(0, 9).toArray();
  private static final ServeRequest REQUEST = ServeRequest.of(Prompt.of(PROMPT));
  private static final KvCacheAwareRouterOptions FOURS =
      new KvCacheAwareRouterOptions(64, 4, 0.25, Double.POSITIVE_INFINITY, false, 10);

  private final ArrayDeque<Runnable> background = new ArrayDeque<>();
  private final List<String> polled = new ArrayList<>();

  private static BlockEvent stored(int... prompt) {
    return BlockEvent.Stored.named(
        TrtllmHash.V1_BLOCK_KEY, TrtllmHash.V1_BLOCK_KEY.keys(prompt, 4, CacheScope.NONE));
  }

  private KvCacheAwareRouter router(KvCacheAwareRouterOptions options, CacheEventSource events) {
    CacheEventSource noted =
        server -> {
          polled.add(server);
          return events.poll(server);
        };
    return new KvCacheAwareRouter(
        List.of("s1", "s2"),
        options,
        new ServePorts(Tokenizer.CODE_POINTS, noted, background::add, Map.of()));
  }

  /** KA8. */
  @Test
  void finishingFetchesTheServersEvents() {
    KvCacheAwareRouter router = router(FOURS, server -> List.of(stored(PROMPT)));
    router.finish(router.next(REQUEST, "s1"), true);
    background.remove().run();
    assertThat(polled).containsExactly("s2");
    assertThat(router.next(REQUEST, null).explanation().matches())
        .isEqualTo(Map.of("s1", 0L, "s2", 8L));
  }

  @Test
  void eventsOfAPoolCountAsTheyAre() {
    KvCacheAwareRouter router = router(FOURS, server -> List.of());
    long[] keys = TrtllmHash.V1_BLOCK_KEY.keys(PROMPT, 4, CacheScope.NONE);
    router.onEvents(
        "s1",
        List.of(
            BlockEvent.Stored.named(null, keys[0]),
            BlockEvent.Stored.namedAfter(HashFormat.TRTLLM_V1, keys[0], keys[1])));
    assertThat(router.next(REQUEST, null).explanation().matches()).containsEntry("s1", 8L);
    router.onEvents("s1", List.of(BlockEvent.Removed.of(keys[1])));
    assertThat(router.next(REQUEST, null).explanation().matches()).containsEntry("s1", 4L);
    router.onEvents("s1", List.of(new BlockEvent.Cleared()));
    assertThat(router.blockCount("s1")).isZero();
  }

  @Test
  void eventsWhoseBlocksCannotBeComparedAreRefused() {
    KvCacheAwareRouter router = router(FOURS, server -> List.of());
    long[] one = {1};
    assertThatIllegalArgumentException()
        .isThrownBy(() -> router.onEvents("s1", List.of(BlockEvent.Stored.root(one, one))))
        .withMessage("block events must give sequence hashes");
    assertThatIllegalArgumentException()
        .isThrownBy(
            () -> router.onEvents("s1", List.of(BlockEvent.Stored.named(HashFormat.KVASIR, 1))))
        .withMessage("block events must be named as TensorRT-LLM does, not kvasir");
  }

  /** KA8. */
  @Test
  void loadIsTakenOffEvenIfEventsCannotBeFetched() {
    KvCacheAwareRouter router =
        router(
            FOURS,
            server -> {
              throw new IOException("refused");
            });
    ServeChoice choice = router.next(REQUEST, null);
    router.finish(choice, true);
    background.remove().run();
    assertThat(router.load("s1")).isZero();
    router.finish(choice, true);
    assertThat(router.load("s1")).isZero();
    assertThat(background).as("a finished choice is forgotten").isEmpty();
  }

  @Test
  void loadIsTakenOffEvenIfNothingRunsInTheBackground() {
    KvCacheAwareRouter router =
        new KvCacheAwareRouter(
            List.of("s1"),
            FOURS,
            new ServePorts(
                Tokenizer.CODE_POINTS,
                server -> List.of(),
                task -> {
                  throw new RejectedExecutionException("shut down");
                },
                Map.of()));
    router.finish(router.next(REQUEST, null), true);
    assertThat(router.load("s1")).isZero();
  }

  @Test
  void eventsOfAServerThatCameBackAreNotThoseOfTheOldOne() {
    KvCacheAwareRouter router = router(FOURS, server -> List.of(stored(PROMPT)));
    router.finish(router.next(REQUEST, "s1"), true);
    router.removeServer("s2");
    router.addServer("s2");
    background.remove().run();
    assertThat(polled).as("cancelled").isEmpty();
    assertThat(router.blockCount("s2")).isZero();
  }

  @Test
  void nothingIsFetchedAfterClosing() {
    KvCacheAwareRouter router = router(FOURS, server -> List.of());
    router.finish(router.next(REQUEST, null), true);
    router.close();
    router.close();
    router.finish(router.next(REQUEST, null), true);
    background.forEach(Runnable::run);
    assertThat(polled).isEmpty();
  }

  /** B16: without events, and with another block size, a server still counts what it was sent. */
  @Test
  void withoutBelievableEventsItStillRoutesByPrefix() {
    KvCacheAwareRouterOptions tracking =
        new KvCacheAwareRouterOptions(64, 4, 0.25, Double.POSITIVE_INFINITY, true, 10);
    KvCacheAwareRouter router = router(tracking, server -> List.of(stored(PROMPT)));
    router.prepare("s1", new ServerDescription(8, "v1_block_key"));
    router.finish(router.next(REQUEST, "s2"), true);
    assertThat(background).as("events that would be ignored are not fetched").isEmpty();
    ServeChoice second = router.next(REQUEST, null);
    assertThat(second.server()).isEqualTo("s1");
    assertThat(second.explanation().matchLength()).isEqualTo(8);
    assertThat(router.onEvents("s1", List.of(stored(1, 2, 3)))).isFalse();
  }

  /** B17: another adapter's or tenant's blocks are no match. */
  @Test
  void adaptersAndSaltsDoNotMatchOneAnother() {
    KvCacheAwareRouter router =
        new KvCacheAwareRouter(List.of("s1"), KvCacheAwareRouterOptions.DEFAULT, ServePorts.NONE);
    List<CacheScope> scopes =
        List.of(CacheScope.NONE, CacheScope.NONE.withLora(7), CacheScope.NONE.withSalt("tenant-a"));
    for (CacheScope scope : scopes) {
      ServeChoice choice = router.next(REQUEST.withScope(scope), null);
      assertThat(choice.explanation().matchLength()).as("%s", scope).isZero();
      router.finish(choice, true);
      choice = router.next(REQUEST.withScope(scope), null);
      assertThat(choice.explanation().matchLength()).as("%s again", scope).isEqualTo(32);
      router.finish(choice, true);
    }
  }

  /** B18: with one server left out, the others keep their own loads. */
  @Test
  void excludingAServerDoesNotShiftLoads() {
    KvCacheAwareRouter router =
        new KvCacheAwareRouter(List.of("s1", "s2", "s3"), FOURS, ServePorts.NONE);
    router.next(REQUEST, "s1");
    router.next(REQUEST, "s1");
    assertThat(List.of(router.load("s1"), router.load("s2"), router.load("s3")))
        .containsExactly(0L, 1L, 1L);
    router.finish(router.next(REQUEST, "s1"), true);
    assertThat(router.next(REQUEST, "s3").server()).as("s2 is loaded, s1 is not").isEqualTo("s1");
  }

  /**
   * B22: a match may exceed the prompt, for its last block counts whole; used as tokens it does
   * not.
   */
  @Test
  void aMatchUsedAsTokensIsClampedToThePrompt() {
    KvCacheAwareRouter router =
        new KvCacheAwareRouter(List.of("s1"), KvCacheAwareRouterOptions.DEFAULT, ServePorts.NONE);
    router.finish(router.next(REQUEST, null), true);
    Explanation explanation = router.next(REQUEST, null).explanation();
    assertThat(explanation.matchLength()).isEqualTo(32).isGreaterThan(explanation.tokenCount());
    assertThat(DisaggFlow.needsContext(explanation.matchLength(), explanation.tokenCount(), 0))
        .isFalse();
  }

  /** KA17. */
  @Test
  void tokensThatAreThereAreNotMadeAgain() {
    Tokenizer refusing =
        prompt -> {
          throw new AssertionError("not to be called");
        };
    KvCacheAwareRouter router =
        new KvCacheAwareRouter(
            List.of("s1"), FOURS, new ServePorts(refusing, null, Runnable::run, Map.of()));
    Prompt chat = new Prompt.Chat(List.of(new Prompt.Message("user", "hi")));
    ServeChoice choice = router.next(ServeRequest.of(chat).withTokenIds(PROMPT), null);
    assertThat(choice.explanation().promptTokens()).containsExactly(PROMPT);
    assertThat(choice.explanation().tokenCount()).isEqualTo(9);
  }

  @Test
  void tokensThatWereMadeAreHandedOn() {
    KvCacheAwareRouter router = new KvCacheAwareRouter(List.of("s1"), FOURS, ServePorts.NONE);
    Prompt chat =
        new Prompt.Chat(
            List.of(new Prompt.Message("user", "hi"), new Prompt.Message("assistant", null)));
    assertThat(router.next(ServeRequest.of(chat), null).explanation().promptTokens())
        .containsExactly("user:hi\nassistant:".codePoints().toArray());
  }

  @Test
  void severalPromptsMatchEachOnItsOwn() {
    KvCacheAwareRouter router = new KvCacheAwareRouter(List.of("s1"), FOURS, ServePorts.NONE);
    router.onEvents("s1", List.of(stored(PROMPT)));
    Prompt twice = new Prompt.Tokens(List.of(PROMPT, new int[] {0, 1, 2, 3, 9, 9}));
    Explanation explanation = router.next(ServeRequest.of(twice), null).explanation();
    assertThat(explanation.matchLength()).isEqualTo(8 + 4);
    assertThat(explanation.tokenCount()).isEqualTo(9 + 6);
  }

  @Test
  void whatAServerIsThoughtToHoldIsBoundedHeadsLast() {
    KvCacheAwareRouterOptions tracking =
        new KvCacheAwareRouterOptions(64, 4, 0.25, Double.POSITIVE_INFINITY, true, 10);
    KvCacheAwareRouter router = new KvCacheAwareRouter(List.of("s1"), tracking, ServePorts.NONE, 3);
    int[] five = IntStream.range(0, 21).toArray();
    router.finish(router.next(ServeRequest.of(Prompt.of(five)), null), true);
    assertThat(router.blockCount("s1")).isEqualTo(3);
    assertThat(router.next(ServeRequest.of(Prompt.of(five)), null).explanation().matchLength())
        .as("the first three blocks are left")
        .isEqualTo(12);
  }

  @Test
  void aServerThatCannotBePreparedSaysWhy() {
    KvCacheAwareRouter router = new KvCacheAwareRouter(List.of("s1"), FOURS, ServePorts.NONE);
    assertThatIllegalStateException()
        .isThrownBy(() -> router.prepare("s1", new ServerDescription(6, null)))
        .withMessageContaining("s1")
        .withMessageContaining("tokens_per_block")
        .withMessageContaining("4, not 6");
    assertThat(router.ready("s1")).isFalse();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> router.prepare("s9", new ServerDescription(4, null)))
        .withMessageContaining("s9");
    assertThatIllegalArgumentException().isThrownBy(() -> new ServerDescription(0, null));
  }

  /** B31, B32: args stay the caller's; the environment overrides the block size of both routers. */
  @Test
  void theEnvironmentOverridesTheBlockSizeAndArgsAreNotChanged() {
    Map<String, Object> args = new HashMap<>(Map.of("tokens_per_block", 64));
    ServePorts ports =
        new ServePorts(
            Tokenizer.CODE_POINTS,
            null,
            Runnable::run,
            Map.of(ServeRouterKind.TOKENS_PER_BLOCK_VARIABLE, " 4 "));
    ServeRouter aware = ServeRouterKind.KV_CACHE_AWARE.create(List.of("s1"), args, ports);
    aware.finish(aware.next(REQUEST, null), true);
    assertThat(aware.next(REQUEST, null).explanation().matchLength()).isEqualTo(8);
    ServeRouter conversation = ServeRouterKind.CONVERSATION.create(List.of("s1"), args, ports);
    conversation.next(REQUEST, null);
    assertThat(conversation.load("s1")).isEqualTo(8);
    assertThat(args).isEqualTo(Map.of("tokens_per_block", 64));
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                ServeRouterKind.CONVERSATION.create(
                    List.of("s1"),
                    args,
                    new ServePorts(
                        Tokenizer.CODE_POINTS,
                        null,
                        Runnable::run,
                        Map.of(ServeRouterKind.TOKENS_PER_BLOCK_VARIABLE, "0"))))
        .withMessageContaining(ServeRouterKind.TOKENS_PER_BLOCK_VARIABLE);
  }
}
