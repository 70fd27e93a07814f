package io.kvasir.fleet.wire;

import static io.kvasir.fleet.wire.DecodedRank.BLOCK;
import static io.kvasir.fleet.wire.DecodedRank.HASHES;
import static io.kvasir.fleet.wire.DecodedRank.PROMPT;
import static io.kvasir.fleet.wire.DecodedRank.TOKENS;
import static io.kvasir.fleet.wire.Packed.batch;
import static io.kvasir.fleet.wire.Packed.event;
import static io.kvasir.fleet.wire.Packed.removed;
import static io.kvasir.fleet.wire.Packed.stored;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.event.BlockEvent;
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
import org.junit.jupiter.api.Test;

class RankEventsTest {

  private final List<String> seen = new ArrayList<>();
  private final DecodedRank engine = new DecodedRank(this::see);
  private final RankEvents rank = engine.events();

  private void see(WireBlocks blocks, BlockEvent.Stored event) {
    seen.add(
        (blocks.root() ? "root " : "child ")
            + Arrays.toString(Arrays.copyOf(blocks.tokens(), blocks.tokenCount()))
            + " plain "
            + blocks.plainTokens()
            + " handles "
            + Arrays.toString(event.handles()));
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
      engine.decode(List.of("AllBlocksCleared"), stored);
      assertThat(engine.matched()).isEqualTo(1);
      assertThat(seen).last().asString().startsWith("root [1, 2, 3, 4, ").contains(" plain 4 ");
    }
  }

  @Test
  void otherContentIsPartOfTheHash() {
    assertThat(locals("image a")).isEqualTo(locals("image a")).isNotEqualTo(locals("image b"));
  }

  private long[] locals(String image) {
    List<?> keys = Arrays.asList(null, List.of(List.of(image, 3)));
    List<BlockEvent> events =
        engine.decode(stored(HASHES, null, TOKENS, BLOCK, "extra_keys", keys));
    return ((BlockEvent.Stored) events.get(0)).localHashes();
  }

  @Test
  void pairsOfTokensCountByTheirFirst() {
    List<?> pairs = TOKENS.stream().map(token -> List.of(token, token + 1)).toList();
    engine.decode(stored(HASHES, null, pairs, BLOCK));
    assertThat(engine.matched()).isEqualTo(3);
  }

  @Test
  void partsOfBlocksAreNoProblem() {
    engine.decode(stored(HASHES, null, TOKENS, BLOCK));
    engine.decode(stored(List.of(7, 8), 103, List.of(1, 2, 3, 4), BLOCK / 2));
    assertThat(rank.skips().of(SkipCause.PARTIAL_BLOCK)).isEqualTo(1);
    assertThat(rank.otherBlockSize()).isZero();
    engine.decode(stored(List.of(7), 103, List.of(1, 2, 3, 4, 5, 6, 7, 8), 2 * BLOCK));
    assertThat(rank.otherBlockSize()).isEqualTo(2 * BLOCK);
  }

  private BlockEvent.Repeats repeats(Object... events) {
    return ((BlockEvent.Stored) engine.decode(events).get(0)).repeats();
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
    assertThat(engine.decode(ofWindow)).isEmpty();
    assertThat(repeats(root, behind)).as("it says so").isEqualTo(BlockEvent.Repeats.COPIES);
  }

  @Test
  void blocksOfAnotherSizeAreCounted() {
    assertThat(rank.otherBlockSize()).isZero();
    assertThat(engine.decode(stored(HASHES, null, TOKENS, 2), stored(HASHES, null, TOKENS, 6)))
        .isEmpty();
    assertThat(rank.skips().of(SkipCause.OTHER_BLOCK_SIZE)).isEqualTo(2);
    assertThat(rank.otherBlockSize()).isEqualTo(6);
    assertThat(
            engine.decode(
                stored(HASHES, null, TOKENS.subList(1, 12), BLOCK),
                stored(HASHES.subList(1, 3), null, TOKENS, BLOCK),
                stored(HASHES, null, List.of(), BLOCK)))
        .isEmpty();
    assertThat(rank.skips().of(SkipCause.TOKEN_COUNT)).isEqualTo(3);
    assertThat(seen).isEmpty();
  }

  @Test
  void skippedEventsAreCounted() {
    engine.decode(7, event("BlockMoved"), event("BlockMoved"));
    assertThat(rank.skips().of(SkipCause.WRONG_TYPE)).isEqualTo(1);
    assertThat(rank.skips().of(SkipCause.UNKNOWN_TAG)).isEqualTo(2);
    assertThat(rank.skips().of(SkipCause.MALFORMED)).isZero();
  }

  @Test
  void eventsWithoutBlocksChangeNothing() {
    assertThat(engine.decode(stored(List.of(), null, List.of(), BLOCK), removed(List.of())))
        .isEmpty();
    assertThat(engine.decode(stored(List.of(), null, List.of(), BLOCK, "medium", "CPU"))).isEmpty();
  }

  @Test
  void aBatchNamesItsRank() {
    assertThat(rank.batchRank()).isEqualTo(-1);
    engine.decode();
    assertThat(rank.batchRank()).isZero();
    byte[] other = Packed.of(Arrays.asList("now", List.of(), 7));
    new WireDecoder().decode(other, 0, other.length, rank);
    assertThat(rank.batchRank()).isEqualTo(7);
  }

  @Test
  void theListenerSeesTokens() {
    engine.decode(
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
    WireDecoder decoder = new WireDecoder();
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
