package io.kvasir.fleet.wire;

import static io.kvasir.fleet.wire.DecodedRank.BLOCK;
import static io.kvasir.fleet.wire.DecodedRank.HASHES;
import static io.kvasir.fleet.wire.DecodedRank.TOKENS;
import static io.kvasir.fleet.wire.DecodedRank.handles;
import static io.kvasir.fleet.wire.Packed.removed;
import static io.kvasir.fleet.wire.Packed.stored;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Where blocks are: copies on the GPU, in other media and in parts of an engine. */
class BlockHandlesTest {

  private final DecodedRank engine = new DecodedRank(null);
  private final RankEvents rank = engine.events();

  @Test
  void blocksOfAStoreThatWorkersShareAreNotHeld() {
    engine.decode(
        stored(HASHES, null, TOKENS, BLOCK, "medium", "STORAGE", "locality", "REMOTE"),
        stored(HASHES, null, List.of(), 0, "locality", "remote", "medium", "storage"));
    assertThat(engine.matched()).isZero();
    assertThat(rank.skips().of(SkipCause.REMOTE)).isEqualTo(2);

    engine.decode(stored(HASHES, null, TOKENS, BLOCK, "medium", "STORAGE", "locality", "LOCAL"));
    assertThat(engine.matched()).isEqualTo(3);
    engine.decode(removed(HASHES, "medium", "STORAGE", "locality", "REMOTE"));
    assertThat(engine.matched()).as("the local copy stays").isEqualTo(3);
    engine.decode(removed(HASHES, "medium", "STORAGE", "locality", "LOCAL"));
    assertThat(engine.matched()).isZero();
    engine.decode(stored(HASHES, null, TOKENS, BLOCK, "medium", "STORAGE", "locality", null));
    assertThat(engine.matched()).as("a place that is not stated").isEqualTo(3);
  }

  @Test
  void mediaThatAreNotKnownToBeTheWorkersOwnAreNotFollowed() {
    for (String shared : List.of("EXTERNAL", "REMOTE", "mooncake")) {
      engine.decode(
          stored(HASHES, null, TOKENS, BLOCK, "medium", shared),
          stored(HASHES, null, List.of(), 0, "medium", shared));
      assertThat(engine.matched()).as(shared).isZero();
    }
    assertThat(rank.skips().of(SkipCause.OTHER_MEDIUM)).isEqualTo(6);
    List<String> own = List.of("gpu", "DEVICE", "CPU", "CPU_PINNED", "CPU_TIER2", "disk", "FS");
    for (String medium : own) {
      engine.decode(
          List.of("AllBlocksCleared"), stored(HASHES, null, TOKENS, BLOCK, "medium", medium));
      assertThat(engine.matched()).as(medium).isEqualTo(3);
      engine.decode(removed(HASHES, "medium", "EXTERNAL"));
      assertThat(engine.matched()).as(medium).isEqualTo(3);
    }
  }

  @Test
  void partsOfAnEngineHoldBlocksOnTheirOwn() {
    engine.decode(
        stored(HASHES, null, TOKENS, BLOCK, "medium", "STORAGE", "ownership", "tier-a"),
        stored(HASHES, null, TOKENS, BLOCK, "medium", "STORAGE", "ownership", "tier-b"),
        removed(HASHES, "medium", "STORAGE", "ownership", "tier-a"));
    assertThat(engine.matched()).isEqualTo(3);
    engine.decode(removed(HASHES, "medium", "STORAGE"));
    assertThat(engine.matched()).isEqualTo(3);
    engine.decode(removed(HASHES, "medium", "STORAGE", "ownership", "tier-b"));
    assertThat(engine.matched()).isZero();
  }

  @Test
  void eventsInTheFormOfArraysHaveAPlaceToo() {
    List<Object> stored = new ArrayList<>(Arrays.asList("BlockStored", HASHES, null, TOKENS));
    stored.addAll(Arrays.asList(BLOCK, null, "STORAGE", null, null, 0, "full_attention", null));
    List<Object> local = new ArrayList<>(stored);
    local.add("LOCAL");
    stored.add("REMOTE");
    engine.decode(stored);
    assertThat(engine.matched()).isZero();

    engine.decode(local);
    assertThat(engine.matched()).isEqualTo(3);
    engine.decode(Arrays.asList("BlockRemoved", HASHES, "STORAGE", 0, "REMOTE"));
    assertThat(engine.matched()).isEqualTo(3);
    engine.decode(Arrays.asList("BlockRemoved", HASHES, "STORAGE", 0, "LOCAL"));
    assertThat(engine.matched()).isZero();
  }

  @Test
  void aPlaceThatIsNeitherLocalNorKnownIsNotTheWorkersOwn() {
    engine.decode(stored(HASHES, null, TOKENS, BLOCK, "medium", "STORAGE", "locality", "RACK"));

    assertThat(engine.matched()).isZero();
  }

  @Test
  void everyTierHoldsItsCopy() {
    engine.decode(stored(HASHES, null, TOKENS, BLOCK, "medium", "gpu"));
    List<BlockEvent> events =
        engine.decode(
            stored(HASHES, null, List.of(), 0, "medium", "CPU"),
            stored(HASHES.subList(0, 1), null, List.of(), 0, "medium", "disk"));
    BlockEvent.Aliased copy = (BlockEvent.Aliased) events.get(0);
    assertThat(copy.of()).containsExactly(101, 102, 103);
    assertThat(copy.handles()).doesNotContain(101, 102, 103);

    engine.decode(removed(HASHES));
    assertThat(engine.matched()).isEqualTo(3);
    events = engine.decode(removed(HASHES, "medium", "cpu"));
    assertThat(handles(events.get(0))).isEqualTo(copy.handles());
    assertThat(engine.matched()).isEqualTo(1);
    engine.decode(removed(HASHES, "medium", "DISK"));
    assertThat(engine.matched()).isZero();
  }

  @Test
  void aCopyWithTokensFollowsItsOwnTierOrTheGpu() {
    List<Integer> first = TOKENS.subList(0, BLOCK);
    List<Integer> second = TOKENS.subList(BLOCK, 2 * BLOCK);
    Object child = stored(List.of(102), 101, second, BLOCK, "medium", "CPU_PINNED");
    engine.decode(stored(List.of(101), null, first, BLOCK, "medium", "CPU_PINNED"), child);
    assertThat(engine.matched()).isEqualTo(2);

    engine.decode(List.of("AllBlocksCleared"), stored(HASHES, null, TOKENS, BLOCK), child);
    engine.decode(removed(List.of(102), "medium", "GPU"));
    assertThat(engine.matched()).isEqualTo(3);
  }

  @Test
  void clearingDropsAllTiersAndGroups() {
    engine.decode(
        stored(HASHES, null, TOKENS, BLOCK),
        stored(HASHES, null, TOKENS, BLOCK, "medium", "CPU", "group_idx", 1),
        List.of("AllBlocksCleared"));
    assertThat(engine.matched()).isZero();
  }
}
