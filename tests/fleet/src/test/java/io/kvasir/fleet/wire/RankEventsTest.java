package io.kvasir.fleet.wire;

import static io.kvasir.fleet.wire.Packed.batch;
import static io.kvasir.fleet.wire.Packed.event;
import static io.kvasir.fleet.wire.Packed.removed;
import static io.kvasir.fleet.wire.Packed.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.CacheGroup;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.CacheScope;
import io.kvasir.model.RankId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RankEventsTest {

  private static final int BLOCK = 4;
  private static final int[] PROMPT = IntStream.rangeClosed(1, 3 * BLOCK).toArray();
  private static final List<Integer> TOKENS = Arrays.stream(PROMPT).boxed().toList();
  private static final List<Integer> HASHES = List.of(101, 102, 103);

  private final List<String> seen = new ArrayList<>();
  private final RankEvents rank = new RankEvents(BLOCK, this::see);
  private final WireDecoder decoder = new WireDecoder();
  private final HeldBlocks held = new HeldBlocks();

  private void see(WireBlocks blocks, BlockEvent.Stored event) {
    seen.add(
        (blocks.root() ? "root " : "child ")
            + Arrays.toString(Arrays.copyOf(blocks.tokens(), blocks.tokenCount()))
            + " plain "
            + blocks.plainTokens()
            + " handles "
            + Arrays.toString(event.handles()));
  }

  private List<BlockEvent> decode(Object... events) {
    byte[] payload = batch(events);
    decoder.decode(payload, 0, payload.length, rank);
    List<BlockEvent> translated = rank.take();
    held.apply(translated);
    return translated;
  }

  private int matched() {
    return held.match(PROMPT, BLOCK, CacheScope.NONE);
  }

  private static long[] handles(BlockEvent event) {
    return event instanceof BlockEvent.Stored stored
        ? stored.handles()
        : event instanceof BlockEvent.Removed removed
            ? removed.handles()
            : ((BlockEvent.Aliased) event).handles();
  }

  @Test
  void storedBlocksHaveTheHashesOfAPrompt() {
    CacheScope adapter = CacheScope.NONE.withLora(CacheScope.saltId("sql"));
    assertMatchesOnly(CacheScope.NONE);
    assertMatchesOnly(CacheScope.NONE, "extra_keys", Arrays.asList(null, List.of(), null));
    assertMatchesOnly(adapter, "lora_name", "sql", "lora_id", 3);
    List<?> named = Collections.nCopies(3, List.of("sql"));
    assertMatchesOnly(adapter, "lora_name", "sql", "extra_keys", named);
    assertMatchesOnly(CacheScope.NONE.withSalt("tenant"), "cache_salt", "tenant");
    assertMatchesOnly(
        CacheScope.NONE.withSalt("tenant"), "extra_keys", Arrays.asList(List.of("tenant"), null));
    assertMatchesOnly(
        CacheScope.NONE.withSalt("tenant"),
        "cache_salt",
        "tenant",
        "extra_keys",
        List.of(List.of("tenant")));
    assertMatchesOnly(
        adapter.withSalt("tenant"),
        "extra_keys",
        List.of(List.of("sql", "tenant"), List.of("sql"), List.of("sql")),
        "lora_name",
        "sql");
    assertMatchesOnly(null, "lora_id", 3);
    assertMatchesOnly(null, "lora_id", 0);
  }

  /** Null: no scope matches. */
  private static void assertMatchesOnly(CacheScope expected, Object... fields) {
    CacheScope adapter = CacheScope.NONE.withLora(CacheScope.saltId("sql"));
    List<CacheScope> scopes =
        List.of(
            CacheScope.NONE,
            adapter,
            CacheScope.NONE.withLora(3),
            CacheScope.NONE.withLora(0),
            CacheScope.NONE.withSalt("tenant"),
            CacheScope.NONE.withSalt("sql"),
            adapter.withSalt("tenant"));
    RankEvents rank = new RankEvents(BLOCK, null);
    byte[] payload =
        batch(
            stored(HASHES.subList(0, 2), null, TOKENS.subList(0, 2 * BLOCK), BLOCK, fields),
            stored(HASHES.subList(2, 3), 102, TOKENS.subList(2 * BLOCK, 3 * BLOCK), BLOCK));
    new WireDecoder().decode(payload, 0, payload.length, rank);
    try (NativePrefixIndex index = new NativePrefixIndex(HashFormat.KVASIR, BLOCK, 1 << 20)) {
      rank.take().forEach(event -> index.apply(new RankId(1, 0), event));
      for (CacheScope scope : scopes) {
        FleetRequest request =
            FleetRequest.builder(1, new Prompt.Tokens(List.of(PROMPT))).scope(scope).build();
        BlockHashes hashes = request.hashes(HashFormat.KVASIR, BLOCK);
        RankMatches matches = new RankMatches();
        index.match(hashes.sequence(), hashes.blocks(), matches);
        int matched = matches.size() == 0 ? 0 : matches.blocks(0);
        assertThat(matched).as("%s", scope).isEqualTo(scope.equals(expected) ? 3 : 0);
      }
    }
  }

  @Test
  void blocksMatchUpToTheFirstWithOtherContent() {
    List<Object> imageInSecond = new ArrayList<>(TOKENS);
    imageInSecond.set(BLOCK, "mm:0");
    List<Object> tooLarge = new ArrayList<>(TOKENS);
    tooLarge.set(BLOCK, 1L << 40);
    List<?> image = Arrays.asList(null, List.of("image"), null);
    List<?> keys = List.of(List.of(), List.of(event("mm_key", "hash", "ab", "start_offset", 1)));
    for (Object stored :
        List.of(
            stored(HASHES, null, TOKENS, BLOCK, "extra_keys", image),
            stored(HASHES, null, TOKENS, BLOCK, "mm_keys", keys),
            stored(HASHES, null, tooLarge, BLOCK),
            stored(HASHES, null, imageInSecond, BLOCK))) {
      decode(List.of("AllBlocksCleared"), stored);
      assertThat(matched()).isEqualTo(1);
      assertThat(seen).last().asString().startsWith("root [1, 2, 3, 4, ").contains(" plain 4 ");
    }
  }

  @Test
  void otherContentIsPartOfTheHash() {
    assertThat(locals("image a")).isEqualTo(locals("image a")).isNotEqualTo(locals("image b"));
  }

  private long[] locals(String image) {
    List<?> keys = Arrays.asList(null, List.of(List.of(image, 3)));
    List<BlockEvent> events = decode(stored(HASHES, null, TOKENS, BLOCK, "extra_keys", keys));
    return ((BlockEvent.Stored) events.get(0)).localHashes();
  }

  @Test
  void pairsOfTokensCountByTheirFirst() {
    List<?> pairs = TOKENS.stream().map(token -> List.of(token, token + 1)).toList();
    decode(stored(HASHES, null, pairs, BLOCK));
    assertThat(matched()).isEqualTo(3);
  }

  @Test
  void blocksOfAStoreThatWorkersShareAreNotHeld() {
    decode(
        stored(HASHES, null, TOKENS, BLOCK, "medium", "STORAGE", "locality", "REMOTE"),
        stored(HASHES, null, List.of(), 0, "locality", "remote", "medium", "storage"));
    assertThat(matched()).isZero();
    assertThat(rank.skips().of(SkipCause.REMOTE)).isEqualTo(2);

    decode(stored(HASHES, null, TOKENS, BLOCK, "medium", "STORAGE", "locality", "LOCAL"));
    assertThat(matched()).isEqualTo(3);
    decode(removed(HASHES, "medium", "STORAGE", "locality", "REMOTE"));
    assertThat(matched()).as("the local copy stays").isEqualTo(3);
    decode(removed(HASHES, "medium", "STORAGE", "locality", "LOCAL"));
    assertThat(matched()).isZero();
    decode(stored(HASHES, null, TOKENS, BLOCK, "medium", "STORAGE", "locality", null));
    assertThat(matched()).as("a place that is not stated").isEqualTo(3);
  }

  @Test
  void mediaThatAreNotKnownToBeTheWorkersOwnAreNotFollowed() {
    for (String shared : List.of("EXTERNAL", "REMOTE", "mooncake")) {
      decode(
          stored(HASHES, null, TOKENS, BLOCK, "medium", shared),
          stored(HASHES, null, List.of(), 0, "medium", shared));
      assertThat(matched()).as(shared).isZero();
    }
    assertThat(rank.skips().of(SkipCause.OTHER_MEDIUM)).isEqualTo(6);
    List<String> own = List.of("gpu", "DEVICE", "CPU", "CPU_PINNED", "CPU_TIER2", "disk", "FS");
    for (String medium : own) {
      decode(List.of("AllBlocksCleared"), stored(HASHES, null, TOKENS, BLOCK, "medium", medium));
      assertThat(matched()).as(medium).isEqualTo(3);
      decode(removed(HASHES, "medium", "EXTERNAL"));
      assertThat(matched()).as(medium).isEqualTo(3);
    }
  }

  @Test
  void partsOfAnEngineHoldBlocksOnTheirOwn() {
    decode(
        stored(HASHES, null, TOKENS, BLOCK, "medium", "STORAGE", "ownership", "tier-a"),
        stored(HASHES, null, TOKENS, BLOCK, "medium", "STORAGE", "ownership", "tier-b"),
        removed(HASHES, "medium", "STORAGE", "ownership", "tier-a"));
    assertThat(matched()).isEqualTo(3);
    decode(removed(HASHES, "medium", "STORAGE"));
    assertThat(matched()).isEqualTo(3);
    decode(removed(HASHES, "medium", "STORAGE", "ownership", "tier-b"));
    assertThat(matched()).isZero();
  }

  @Test
  void groupsOfAKindThatIsNotKnownAreNotFollowed() {
    decode(stored(HASHES, null, TOKENS, BLOCK, "group_idx", 0, "kv_cache_spec_kind", "unknown"));
    assertThat(matched()).isZero();
    assertThat(rank.skips().of(SkipCause.OTHER_KIND)).isEqualTo(1);
    for (String kind : List.of("full_attention", "mla_attention", "sink_full_attention")) {
      decode(List.of("AllBlocksCleared"));
      decode(stored(HASHES, null, TOKENS, BLOCK, "group_idx", 0, "kv_cache_spec_kind", kind));
      assertThat(matched()).as(kind).isEqualTo(3);
    }
  }

  @Test
  void partsOfBlocksAreNoProblem() {
    decode(stored(HASHES, null, TOKENS, BLOCK));
    decode(stored(List.of(7, 8), 103, List.of(1, 2, 3, 4), BLOCK / 2));
    assertThat(rank.skips().of(SkipCause.PARTIAL_BLOCK)).isEqualTo(1);
    assertThat(rank.otherBlockSize()).isZero();
    decode(stored(List.of(7), 103, List.of(1, 2, 3, 4, 5, 6, 7, 8), 2 * BLOCK));
    assertThat(rank.otherBlockSize()).isEqualTo(2 * BLOCK);
  }

  private BlockEvent.Repeats repeats(Object... events) {
    return ((BlockEvent.Stored) decode(events).get(0)).repeats();
  }

  @Test
  void repeatedBlocksAreCopiesUnlessTheEngineReusedThem() {
    Object root = stored(HASHES.subList(0, 2), null, TOKENS.subList(0, 2 * BLOCK), BLOCK);
    List<Integer> last = TOKENS.subList(2 * BLOCK, 3 * BLOCK);
    Object behind = stored(List.of(103), 102, last, BLOCK);
    Object aside = stored(List.of(113), 101, last, BLOCK);
    assertThat(repeats(root)).isEqualTo(BlockEvent.Repeats.COPIES);
    assertThat(repeats(behind)).as("in another batch").isEqualTo(BlockEvent.Repeats.COPIES);
    assertThat(repeats(root, aside)).isEqualTo(BlockEvent.Repeats.COPIES);
    assertThat(repeats(root, behind)).isEqualTo(BlockEvent.Repeats.UNCLEAR);
    Object reused =
        stored(HASHES.subList(0, 2), null, TOKENS.subList(0, 2 * BLOCK), BLOCK, "origin", "REUSED");
    assertThat(repeats(reused, behind)).isEqualTo(BlockEvent.Repeats.SAME);
    Object ofWindow =
        stored(
            HASHES,
            null,
            TOKENS,
            BLOCK,
            "group_idx",
            3,
            "kv_cache_spec_kind",
            "sliding_window",
            "kv_cache_spec_sliding_window",
            8,
            "origin",
            "REUSED");
    assertThat(decode(ofWindow)).isEmpty();
    assertThat(repeats(root, behind)).as("it says so").isEqualTo(BlockEvent.Repeats.COPIES);
  }

  @Test
  void eventsInTheFormOfArraysHaveAPlaceToo() {
    List<Object> stored = new ArrayList<>(Arrays.asList("BlockStored", HASHES, null, TOKENS));
    stored.addAll(Arrays.asList(BLOCK, null, "STORAGE", null, null, 0, "full_attention", null));
    List<Object> local = new ArrayList<>(stored);
    local.add("LOCAL");
    stored.add("REMOTE");
    decode(stored);
    assertThat(matched()).isZero();

    decode(local);
    assertThat(matched()).isEqualTo(3);
    decode(Arrays.asList("BlockRemoved", HASHES, "STORAGE", 0, "REMOTE"));
    assertThat(matched()).isEqualTo(3);
    decode(Arrays.asList("BlockRemoved", HASHES, "STORAGE", 0, "LOCAL"));
    assertThat(matched()).isZero();
  }

  @Test
  void aPlaceThatIsNeitherLocalNorKnownIsNotTheWorkersOwn() {
    decode(stored(HASHES, null, TOKENS, BLOCK, "medium", "STORAGE", "locality", "RACK"));

    assertThat(matched()).isZero();
  }

  @Test
  void everyTierHoldsItsCopy() {
    decode(stored(HASHES, null, TOKENS, BLOCK, "medium", "gpu"));
    List<BlockEvent> events =
        decode(
            stored(HASHES, null, List.of(), 0, "medium", "CPU"),
            stored(HASHES.subList(0, 1), null, List.of(), 0, "medium", "disk"));
    BlockEvent.Aliased copy = (BlockEvent.Aliased) events.get(0);
    assertThat(copy.of()).containsExactly(101, 102, 103);
    assertThat(copy.handles()).doesNotContain(101, 102, 103);

    decode(removed(HASHES));
    assertThat(matched()).isEqualTo(3);
    events = decode(removed(HASHES, "medium", "cpu"));
    assertThat(handles(events.get(0))).isEqualTo(copy.handles());
    assertThat(matched()).isEqualTo(1);
    decode(removed(HASHES, "medium", "DISK"));
    assertThat(matched()).isZero();
  }

  @Test
  void aCopyWithTokensFollowsItsOwnTierOrTheGpu() {
    List<Integer> first = TOKENS.subList(0, BLOCK);
    List<Integer> second = TOKENS.subList(BLOCK, 2 * BLOCK);
    Object child = stored(List.of(102), 101, second, BLOCK, "medium", "CPU_PINNED");
    decode(stored(List.of(101), null, first, BLOCK, "medium", "CPU_PINNED"), child);
    assertThat(matched()).isEqualTo(2);

    decode(List.of("AllBlocksCleared"), stored(HASHES, null, TOKENS, BLOCK), child);
    decode(removed(List.of(102), "medium", "GPU"));
    assertThat(matched()).isEqualTo(3);
  }

  @Test
  void clearingDropsAllTiersAndGroups() {
    decode(
        stored(HASHES, null, TOKENS, BLOCK),
        stored(HASHES, null, TOKENS, BLOCK, "medium", "CPU", "group_idx", 1),
        List.of("AllBlocksCleared"));
    assertThat(matched()).isZero();
  }

  private static Object inGroup(int group, String kind, Object window) {
    return stored(
        HASHES,
        null,
        TOKENS,
        BLOCK,
        "group_idx",
        group,
        "kv_cache_spec_kind",
        kind,
        "kv_cache_spec_sliding_window",
        window);
  }

  @Test
  void theFirstGroupOfWholePrefixesIsTheMainOne() {
    List<BlockEvent> events =
        decode(
            inGroup(1, "sliding_window", 6),
            stored(HASHES, null, TOKENS, BLOCK, "group_idx", 2),
            inGroup(3, "mla_attention", null),
            inGroup(4, "mamba", null),
            removed(HASHES, "group_idx", 2),
            removed(HASHES, "group_idx", 3));
    assertThat(((BlockEvent.GroupStored) events.get(0)).group())
        .isEqualTo(new CacheGroup(1, CacheGroup.Kind.WINDOW, 2));
    assertThat(handles(events.get(1))).containsExactly(101, 102, 103);
    BlockEvent.GroupStored other = (BlockEvent.GroupStored) events.get(2);
    assertThat(other.group().kind()).isEqualTo(CacheGroup.Kind.FULL);
    assertThat(other.handles()).doesNotContain(101, 102, 103);
    assertThat(other.hashes()).containsExactly(101, 102, 103);
    assertThat(((BlockEvent.GroupStored) events.get(3)).group().kind())
        .isEqualTo(CacheGroup.Kind.STATE);
    assertThat(handles(events.get(4))).containsExactly(101, 102, 103);
    BlockEvent.GroupRemoved gone = (BlockEvent.GroupRemoved) events.get(5);
    assertThat(gone.group()).isEqualTo(3);
    assertThat(gone.handles()).isEqualTo(other.handles());
    assertThat(rank.upperBound()).isFalse();
  }

  @Test
  void blocksBetweenWhichOthersAreLeftOutGoByTheirHashes() {
    Object some =
        stored(
            List.of(101, 103),
            null,
            TOKENS,
            BLOCK,
            "group_idx",
            1,
            "kv_cache_spec_kind",
            "sliding_window",
            "kv_cache_spec_sliding_window",
            4);
    BlockEvent.GroupStored stored = (BlockEvent.GroupStored) decode(some).get(0);
    assertThat(stored.hashes()).containsExactly(101, 103);
    assertThat(stored.localHashes()).isNull();
    assertThat(decode(stored(List.of(101, 103), null, TOKENS, BLOCK, "group_idx", 0))).isEmpty();
    assertThat(rank.skips().of(SkipCause.TOKEN_COUNT)).isEqualTo(1);
  }

  @Test
  void groupsWithoutAKnownRuleAreNotFollowed() {
    int expected = 0;
    for (String kind : List.of("sliding_window", "chunked_local_attention", "cross_attention")) {
      List<BlockEvent> events =
          decode(
              inGroup(5, kind, null),
              stored(HASHES, null, List.of(), 0, "medium", "CPU", "group_idx", 5),
              removed(HASHES, "group_idx", 5));
      assertThat(events).isEmpty();
      expected += 3;
      assertThat(rank.skips().of(SkipCause.OTHER_GROUP)).isEqualTo(expected);
    }
    assertThat(rank.upperBound()).isTrue();
    decode(inGroup(7, "full_attention", 4096));
    assertThat(matched()).isEqualTo(3);
    assertThat(rank.skips().of(SkipCause.OTHER_BLOCK_SIZE)).isZero();
  }

  @Test
  void aGroupWithOtherBlocksThanTheMainOneMakesMatchesUpperBounds() {
    decode(inGroup(0, "full_attention", null));
    assertThat(rank.upperBound()).isFalse();
    decode(
        stored(List.of(1), null, TOKENS, 3 * BLOCK, "group_idx", 1, "kv_cache_spec_kind", "mamba"));
    assertThat(rank.upperBound()).isTrue();
    assertThat(rank.otherBlockSize()).isZero();
  }

  @Test
  void anEngineThatStartedOverMayHaveOtherGroups() {
    decode(
        stored(HASHES, null, TOKENS, 6, "group_idx", 1),
        inGroup(0, "chunked_local_attention", null));
    assertThat(matched()).isZero();
    rank.reset();
    assertThat(rank.otherBlockSize()).isZero();
    assertThat(rank.upperBound()).isFalse();
    assertThat(rank.batchRank()).isEqualTo(-1);
    List<BlockEvent> events = decode(stored(HASHES, null, TOKENS, BLOCK, "group_idx", 0));
    assertThat(matched()).isEqualTo(3);
    assertThat(handles(events.get(0))).as("the main group").containsExactly(101, 102, 103);
    assertThat(rank.skips().of(SkipCause.OTHER_GROUP)).isEqualTo(1);
  }

  @Test
  void blocksOfAnotherSizeAreCounted() {
    assertThat(rank.otherBlockSize()).isZero();
    assertThat(decode(stored(HASHES, null, TOKENS, 2), stored(HASHES, null, TOKENS, 6))).isEmpty();
    assertThat(rank.skips().of(SkipCause.OTHER_BLOCK_SIZE)).isEqualTo(2);
    assertThat(rank.otherBlockSize()).isEqualTo(6);
    assertThat(
            decode(
                stored(HASHES, null, TOKENS.subList(1, 12), BLOCK),
                stored(HASHES.subList(1, 3), null, TOKENS, BLOCK),
                stored(HASHES, null, List.of(), BLOCK)))
        .isEmpty();
    assertThat(rank.skips().of(SkipCause.TOKEN_COUNT)).isEqualTo(3);
    assertThat(seen).isEmpty();
  }

  @Test
  void skippedEventsAreCounted() {
    decode(7, event("BlockMoved"), event("BlockMoved"));
    assertThat(rank.skips().of(SkipCause.WRONG_TYPE)).isEqualTo(1);
    assertThat(rank.skips().of(SkipCause.UNKNOWN_TAG)).isEqualTo(2);
    assertThat(rank.skips().of(SkipCause.MALFORMED)).isZero();
  }

  @Test
  void eventsWithoutBlocksChangeNothing() {
    assertThat(decode(stored(List.of(), null, List.of(), BLOCK), removed(List.of()))).isEmpty();
    assertThat(decode(stored(List.of(), null, List.of(), BLOCK, "medium", "CPU"))).isEmpty();
  }

  @Test
  void aBatchNamesItsRank() {
    assertThat(rank.batchRank()).isEqualTo(-1);
    decode();
    assertThat(rank.batchRank()).isZero();
    byte[] other = Packed.of(Arrays.asList("now", List.of(), 7));
    decoder.decode(other, 0, other.length, rank);
    assertThat(rank.batchRank()).isEqualTo(7);
  }

  @Test
  void theListenerSeesTokens() {
    decode(
        stored(HASHES.subList(0, 1), null, TOKENS.subList(0, BLOCK), BLOCK),
        stored(HASHES.subList(1, 2), 101, TOKENS.subList(BLOCK, 2 * BLOCK), BLOCK));
    assertThat(seen)
        .containsExactly(
            "root [1, 2, 3, 4] plain 4 handles [101]", "child [5, 6, 7, 8] plain 4 handles [102]");
  }

  @Test
  void onlyTheArraysOfEventsAreAllocated() {
    byte[] payload =
        batch(
            Collections.nCopies(100, stored(HASHES, 100, TOKENS, BLOCK, "lora_name", "sql"))
                .toArray());
    RankEvents silent = new RankEvents(BLOCK, null);
    Runnable decode = () -> decoder.decode(payload, 0, payload.length, silent);
    for (int i = 0; i < 200; i++) {
      decode.run();
      silent.take();
    }
    long arrays = 2 * (16 + 8 * 3) + 64;
    assertThat(Allocations.of(decode)).isLessThan(100 * (arrays + 16));
  }

  @Test
  void theBlockSizeMustBePositive() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new RankEvents(0, null))
        .withMessage("tokensPerBlock must be at least 1, not 0");
  }
}
