package io.kvasir.fleet.wire;

import static io.kvasir.fleet.wire.DecodedRank.BLOCK;
import static io.kvasir.fleet.wire.DecodedRank.HASHES;
import static io.kvasir.fleet.wire.DecodedRank.TOKENS;
import static io.kvasir.fleet.wire.DecodedRank.handles;
import static io.kvasir.fleet.wire.Packed.removed;
import static io.kvasir.fleet.wire.Packed.stored;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.CacheGroup;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The cache groups of hybrid models, in the events of an engine. */
class EngineGroupsTest {

  private final DecodedRank engine = new DecodedRank(null);
  private final RankEvents rank = engine.events();

  @Test
  void groupsOfAKindThatIsNotKnownAreNotFollowed() {
    engine.decode(
        stored(HASHES, null, TOKENS, BLOCK, "group_idx", 0, "kv_cache_spec_kind", "unknown"));
    assertThat(engine.matched()).isZero();
    assertThat(rank.skips().of(SkipCause.OTHER_KIND)).isEqualTo(1);
    for (String kind : List.of("full_attention", "mla_attention", "sink_full_attention")) {
      engine.decode(List.of("AllBlocksCleared"));
      engine.decode(
          stored(HASHES, null, TOKENS, BLOCK, "group_idx", 0, "kv_cache_spec_kind", kind));
      assertThat(engine.matched()).as(kind).isEqualTo(3);
    }
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
        engine.decode(
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
    BlockEvent.GroupStored stored = (BlockEvent.GroupStored) engine.decode(some).get(0);
    assertThat(stored.hashes()).containsExactly(101, 103);
    assertThat(stored.localHashes()).isNull();
    assertThat(engine.decode(stored(List.of(101, 103), null, TOKENS, BLOCK, "group_idx", 0)))
        .isEmpty();
    assertThat(rank.skips().of(SkipCause.TOKEN_COUNT)).isEqualTo(1);
  }

  @Test
  void groupsWithoutAKnownRuleAreNotFollowed() {
    int expected = 0;
    for (String kind : List.of("sliding_window", "chunked_local_attention", "cross_attention")) {
      List<BlockEvent> events =
          engine.decode(
              inGroup(5, kind, null),
              stored(HASHES, null, List.of(), 0, "medium", "CPU", "group_idx", 5),
              removed(HASHES, "group_idx", 5));
      assertThat(events).isEmpty();
      expected += 3;
      assertThat(rank.skips().of(SkipCause.OTHER_GROUP)).isEqualTo(expected);
    }
    assertThat(rank.upperBound()).isTrue();
    engine.decode(inGroup(7, "full_attention", 4096));
    assertThat(engine.matched()).isEqualTo(3);
    assertThat(rank.skips().of(SkipCause.OTHER_BLOCK_SIZE)).isZero();
  }

  @Test
  void aGroupWithOtherBlocksThanTheMainOneMakesMatchesUpperBounds() {
    engine.decode(inGroup(0, "full_attention", null));
    assertThat(rank.upperBound()).isFalse();
    engine.decode(
        stored(List.of(1), null, TOKENS, 3 * BLOCK, "group_idx", 1, "kv_cache_spec_kind", "mamba"));
    assertThat(rank.upperBound()).isTrue();
    assertThat(rank.otherBlockSize()).isZero();
  }

  @Test
  void anEngineThatStartedOverMayHaveOtherGroups() {
    engine.decode(
        stored(HASHES, null, TOKENS, 6, "group_idx", 1),
        inGroup(0, "chunked_local_attention", null));
    assertThat(engine.matched()).isZero();
    rank.reset();
    assertThat(rank.otherBlockSize()).isZero();
    assertThat(rank.upperBound()).isFalse();
    assertThat(rank.batchRank()).isEqualTo(-1);
    List<BlockEvent> events = engine.decode(stored(HASHES, null, TOKENS, BLOCK, "group_idx", 0));
    assertThat(engine.matched()).isEqualTo(3);
    assertThat(handles(events.get(0))).as("the main group").containsExactly(101, 102, 103);
    assertThat(rank.skips().of(SkipCause.OTHER_GROUP)).isEqualTo(1);
  }
}
