package io.kvasir.fleet.router.trtllm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.WorkerRouter;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class KvCacheAwareFleetRouterTest {

  private static final int[] PROMPT = IntStream.range(0, 9).toArray();
  private static final KvCacheAwareRouterOptions FOURS = fours(false);

  private static KvCacheAwareRouterOptions fours(boolean trackRoutedBlocks) {
    return new KvCacheAwareRouterOptions(
        64, 4, 0.25, Double.POSITIVE_INFINITY, trackRoutedBlocks, 10);
  }

  private static FleetRequestBuilder request() {
    return FleetRequest.builder(1, Prompt.of(PROMPT));
  }

  private static BlockEvent stored(int... prompt) {
    return BlockEvent.Stored.named(
        TrtllmHash.V1_BLOCK_KEY, TrtllmHash.V1_BLOCK_KEY.keys(prompt, 4, CacheScope.NONE));
  }

  private static NamedFleet fleet(KvCacheAwareRouterOptions options, String... workers) {
    return new NamedFleet(new KvCacheAwareFleetRouter(options), workers);
  }

  private static KvCacheAwareFleetRouter aware(NamedFleet fleet) {
    return (KvCacheAwareFleetRouter) fleet.router();
  }

  @Test
  void eventsOfAPoolCountAsTheyAre() {
    NamedFleet fleet = fleet(FOURS, "s1");
    long[] keys = TrtllmHash.V1_BLOCK_KEY.keys(PROMPT, 4, CacheScope.NONE);
    fleet.tell("s1", BlockEvent.Stored.named(null, keys[0]));
    RankId rank = new RankId(fleet.id("s1"), 1);
    fleet
        .router()
        .onBlocks(rank, BlockEvent.Stored.namedAfter(HashFormat.TRTLLM_V1, keys[0], keys[1]));
    assertThat(fleet.place(request()).matchedTokens()).isEqualTo(8);
    fleet.tell("s1", BlockEvent.Removed.of(keys[1]));
    assertThat(fleet.place(request()).matchedTokens()).isEqualTo(4);
    fleet.tell("s1", new BlockEvent.Cleared());
    assertThat(aware(fleet).blockCount(fleet.id("s1"))).isZero();
  }

  @Test
  void eventsOfAnUnknownWorkerAreIgnored() {
    NamedFleet fleet = fleet(FOURS, "s1");
    fleet.tell("s2", stored(PROMPT));
    fleet.add("s2");
    assertThat(aware(fleet).blockCount(fleet.id("s2"))).isZero();
  }

  @Test
  void eventsWhoseBlocksCannotBeComparedAreRefused() {
    NamedFleet fleet = fleet(FOURS, "s1");
    long[] one = {1};
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fleet.tell("s1", BlockEvent.Stored.root(one, one)))
        .withMessage("block events must give sequence hashes");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> fleet.tell("s1", BlockEvent.Stored.named(HashFormat.KVASIR, 1)))
        .withMessage("block events must be named as TensorRT-LLM does, not kvasir");
  }

  /** B16: without events, and with another block size, routed requests still count. */
  @Test
  void withoutUsableEventsItStillRoutesByPrefix() {
    NamedFleet fleet = fleet(fours(true), "s1", "s2");
    long s1 = fleet.id("s1");
    aware(fleet).prepare(s1, new ServerDescription(8, "v1_block_key"));
    fleet.finish(fleet.place(request(), "s2"), true);
    Placement second = fleet.place(request());
    assertThat(fleet.name(second.rank())).isEqualTo("s1");
    assertThat(second.matchedTokens()).isEqualTo(8);
    long blocks = aware(fleet).blockCount(s1);
    fleet.tell("s1", stored(1, 2, 3));
    assertThat(aware(fleet).blockCount(s1)).isEqualTo(blocks);
  }

  /** B17: blocks of another adapter or tenant do not match. */
  @Test
  void adaptersAndSaltsDoNotMatchOneAnother() {
    NamedFleet fleet = fleet(KvCacheAwareRouterOptions.DEFAULT, "s1");
    List<CacheScope> scopes =
        List.of(CacheScope.NONE, CacheScope.NONE.withLora(7), CacheScope.NONE.withSalt("tenant-a"));
    for (CacheScope scope : scopes) {
      Placement choice = fleet.place(request().scope(scope));
      assertThat(choice.matchedTokens()).as("%s", scope).isZero();
      fleet.finish(choice, true);
      choice = fleet.place(request().scope(scope));
      assertThat(choice.matchedTokens()).as("%s again", scope).isEqualTo(32);
      fleet.finish(choice, true);
    }
  }

  /** B18: with one worker excluded, the others keep their own loads. */
  @Test
  void excludingAWorkerDoesNotShiftLoads() {
    NamedFleet fleet = fleet(FOURS, "s1", "s2", "s3");
    fleet.place(request(), "s1");
    fleet.place(request(), "s1");
    assertThat(List.of(fleet.load("s1"), fleet.load("s2"), fleet.load("s3")))
        .containsExactly(0L, 1L, 1L);
    fleet.finish(fleet.place(request(), "s1"), true);
    assertThat(fleet.worker(request(), "s3")).as("s2 is loaded, s1 is not").isEqualTo("s1");
  }

  /**
   * B22: a match may exceed the prompt, because its last block counts in full; in tokens it is
   * capped.
   */
  @Test
  void aMatchUsedAsTokensIsClampedToThePrompt() {
    NamedFleet fleet = fleet(KvCacheAwareRouterOptions.DEFAULT, "s1");
    fleet.finish(fleet.place(request()), true);
    long matched = fleet.place(request()).matchedTokens();
    assertThat(matched).isEqualTo(32).isGreaterThan(PROMPT.length);
    assertThat(DisaggFlow.needsContext(matched, PROMPT.length, 0)).isFalse();
  }

  /** KA17. */
  @Test
  void tokensThatTheClientSentAreNotMadeAgain() {
    NamedFleet fleet = fleet(fours(true), "s1");
    fleet.finish(fleet.place(request()), true);
    Prompt chat = new Prompt.Chat(List.of(new Prompt.Message("user", "hi")));
    FleetRequestBuilder tokenised = FleetRequest.builder(2, chat).promptTokenIds(PROMPT);
    assertThat(fleet.router().readsTokens(tokenised.build())).isFalse();
    assertThat(fleet.place(tokenised).matchedTokens()).isEqualTo(8);
  }

  @Test
  void aPlacementExplainsEachCandidate() {
    NamedFleet fleet = fleet(FOURS, "s1", "s2", "s3");
    fleet.tell("s2", stored(PROMPT));
    fleet.place(request(), "s1", "s3");
    Placement placed = fleet.place(request(), "s3");
    assertThat(fleet.name(placed.rank())).isEqualTo("s2");
    assertThat(placed.eligible()).isEqualTo(2);
    assertThat(placed.matchedBlocks()).isEqualTo(2);
    assertThat(placed.tokensPerBlock()).isEqualTo(4);
    assertThat(placed.candidates().stream().map(CandidateCost::activeRequests))
        .containsExactly(0, 1);
    assertThat(placed.candidates().stream().map(CandidateCost::cost)).containsExactly(0.0, -1.75);
    assertThat(placed.candidates().get(1).terms()).isEqualTo(Map.of("match", -2.0, "load", 0.25));
    assertThat(placed.terms()).isEqualTo(placed.candidates().get(1).terms());
  }

  @Test
  void severalPromptsMatchEachOnItsOwn() {
    NamedFleet fleet = fleet(FOURS, "s1");
    fleet.tell("s1", stored(PROMPT));
    Prompt twice = new Prompt.Tokens(List.of(PROMPT, new int[] {0, 1, 2, 3, 9, 9}));
    assertThat(fleet.place(FleetRequest.builder(1, twice)).matchedTokens()).isEqualTo(8 + 4);
  }

  @Test
  void rememberedBlocksAreBoundedHeadsLast() {
    KvCacheAwareFleetRouter router = new KvCacheAwareFleetRouter(fours(true), 3);
    NamedFleet fleet = new NamedFleet(router, "s1");
    Prompt five = Prompt.of(IntStream.range(0, 21).toArray());
    fleet.finish(fleet.place(FleetRequest.builder(1, five)), true);
    assertThat(router.blockCount(fleet.id("s1"))).isEqualTo(3);
    assertThat(fleet.place(FleetRequest.builder(1, five)).matchedTokens())
        .as("the first three blocks are left")
        .isEqualTo(12);
  }

  /** A worker that changes its naming during a request records nothing of the request. */
  @Test
  void onlyKeysOfTheNamingAtRoutingAreLearned() {
    NamedFleet fleet = fleet(fours(true), "s1");
    Placement choice = fleet.place(request());
    aware(fleet).prepare(fleet.id("s1"), new ServerDescription(4, "v2_sha256"));
    fleet.finish(choice, true);
    assertThat(aware(fleet).blockCount(fleet.id("s1"))).isZero();
  }

  @Test
  void aWorkerThatCannotBePreparedSaysWhy() {
    NamedFleet fleet = fleet(FOURS, "s1");
    KvCacheAwareFleetRouter router = aware(fleet);
    long s1 = fleet.id("s1");
    assertThatIllegalStateException()
        .isThrownBy(() -> router.prepare(s1, new ServerDescription(6, null)))
        .withMessageContaining("tokens_per_block")
        .withMessageContaining("4, not 6");
    assertThat(router.ready(s1)).isFalse();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> router.prepare(9, new ServerDescription(4, null)))
        .withMessage("worker 9 is unknown");
    assertThatIllegalArgumentException().isThrownBy(() -> new ServerDescription(0, null));
  }

  private static FleetRouterSetup setup(String tokensPerBlock) {
    return new FleetRouterSetup(
        HashFormat.KVASIR, 1, () -> 0, Map.of(TokensPerBlockVariable.NAME, tokensPerBlock));
  }

  private static NamedFleet made(String policy, Map<String, Object> args, String tokensPerBlock) {
    return new NamedFleet(
        (WorkerRouter<?>) FleetRouterKind.named(policy).create(args, setup(tokensPerBlock)), "s1");
  }

  /** B31, B32: args are not modified; the environment overrides the block size of both routers. */
  @Test
  void theEnvironmentOverridesTheBlockSizeAndArgsAreNotChanged() {
    Map<String, Object> args = new HashMap<>(Map.of("tokens_per_block", 64));
    NamedFleet aware = made("kv_cache_aware", args, " 4 ");
    aware.finish(aware.place(request()), true);
    assertThat(aware.place(request()).matchedTokens()).isEqualTo(8);
    NamedFleet conversation = made("conversation", args, " 4 ");
    conversation.place(request());
    assertThat(conversation.load("s1")).isEqualTo(8);
    assertThat(args).isEqualTo(Map.of("tokens_per_block", 64));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> made("conversation", args, "0"))
        .withMessageContaining(TokensPerBlockVariable.NAME);
  }
}
