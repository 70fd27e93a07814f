package io.kvasir.fleet.index;

import static io.kvasir.fleet.index.ChangeStatus.APPLIED;
import static io.kvasir.fleet.index.ChangeStatus.INVALID_SEQUENCE;
import static io.kvasir.fleet.index.ChangeStatus.UNCHANGED;
import static io.kvasir.fleet.index.ChangeStatus.UNKNOWN_PARENT;
import static io.kvasir.fleet.index.IndexScenario.ROOT;
import static io.kvasir.fleet.index.IndexScenario.handles;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.event.BlockEvent;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every prefix index takes for the handles and hashes of blocks, in worked cases. */
abstract class BlockNamingContract {

  static final RankId A = new RankId(7, 0);
  static final RankId B = new RankId(7, 1);
  static final RankId C = new RankId(-2, 0);

  IndexScenario scenario;

  /** Creates an empty index. The caller closes it. */
  abstract PrefixIndex create(HashFormat format);

  @BeforeEach
  void open() {
    scenario = new IndexScenario(create(HashFormat.KVASIR), HashFormat.KVASIR);
  }

  @AfterEach
  void close() {
    scenario.close();
  }

  @Test
  void acceptsEveryNumberAsHandleAndWorker() {
    long[] every = {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 48, 1L << 32, 1};
    for (long worker : every) {
      RankId rank = new RankId(worker, Integer.MAX_VALUE);
      assertThat(scenario.store(rank, ROOT, every, 1, 2, 3, 4, 5, 6, 7)).isEqualTo(APPLIED);
    }
    for (long worker : every) {
      RankId rank = new RankId(worker, Integer.MAX_VALUE);
      assertThat(scenario.match(1, 2, 3, 4, 5, 6, 7)).containsEntry(rank, 7);
      assertThat(scenario.store(rank, 0L, handles(5), 5)).isEqualTo(APPLIED);
      assertThat(scenario.remove(rank, every)).isEqualTo(APPLIED);
      assertThat(scenario.match(1, 2)).doesNotContainKey(rank);
    }
  }

  @Test
  void acceptsEveryNumberAsSequenceHash() {
    long[] locals = {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 48, 1L << 32, 1};
    try (PrefixIndex index = create(HashFormat.DYNAMO)) {
      for (long local : locals) {
        index.apply(A, BlockEvent.Stored.root(handles(local), new long[] {local}));
        index.apply(B, BlockEvent.Stored.root(handles(5), new long[] {local}));
      }
      for (long local : locals) {
        boolean last = local == 1;
        assertThat(IndexScenario.match(index, local))
            .isEqualTo(last ? Map.of(A, 1, B, 1) : Map.of(A, 1));
      }
      assertThat(index.stats().distinctBlocks()).isEqualTo(7);
      for (long local : locals) {
        index.apply(A, BlockEvent.Removed.of(handles(local)));
        assertThat(IndexScenario.match(index, local)).doesNotContainKey(A);
      }
    }
  }

  @Test
  void followsTheDynamoChain() {
    try (PrefixIndex index = create(HashFormat.DYNAMO)) {
      long[] locals = {
        Long.parseUnsignedLong("14643705804678351452"),
        Long.parseUnsignedLong("16777012769546811212"),
        483935686894639516L
      };
      index.apply(A, BlockEvent.Stored.root(handles(11, 12, 13), locals));

      assertThat(
              IndexScenario.match(
                  index,
                  locals[0],
                  4945711292740353085L,
                  Long.parseUnsignedLong("12583592247330656132")))
          .isEqualTo(Map.of(A, 3));
    }
  }

  @Test
  void prefixesOfDifferentScopesAreDifferent() {
    long[] locals = {1, 2};
    scenario.index().apply(A, BlockEvent.Stored.root(77, handles(11, 12), locals));
    scenario.store(B, ROOT, handles(11, 12), 1, 2);
    scenario.store(A, 12L, handles(13), 3);

    assertThat(scenario.match(1, 2, 3)).isEqualTo(Map.of(B, 2));
    long[] scoped = NaiveIndex.chain(HashFormat.KVASIR, 77, 1, 2, 3);
    assertThat(IndexScenario.match(scenario.index(), scoped)).isEqualTo(Map.of(A, 3));
  }

  @Test
  void blocksMayBeGivenBySequenceHashes() {
    PrefixIndex index = scenario.index();
    long[] sequence = {100, 101, 102};
    assertThat(index.apply(A, sequence(null, handles(11, 12, 13), sequence))).isEqualTo(APPLIED);
    assertThat(index.apply(A, sequence(null, handles(11, 12, 13), sequence))).isEqualTo(UNCHANGED);
    assertThat(index.apply(A, sequence(12L, handles(14), 112))).isEqualTo(APPLIED);
    assertThat(index.apply(B, sequence(12L, handles(14), 112))).isEqualTo(UNKNOWN_PARENT);
    assertThat(index.apply(A, sequence(12L, handles(12), 112))).isEqualTo(INVALID_SEQUENCE);

    assertThat(IndexScenario.match(index, sequence)).isEqualTo(Map.of(A, 3));
    assertThat(IndexScenario.match(index, 100, 101, 112)).isEqualTo(Map.of(A, 3));
    scenario.remove(A, 12);
    assertThat(IndexScenario.match(index, sequence)).isEqualTo(Map.of(A, 1));
    assertThat(index.apply(A, sequence(11L, handles(99), 101))).isEqualTo(APPLIED);
    assertThat(IndexScenario.match(index, sequence)).isEqualTo(Map.of(A, 3));
  }

  @Test
  void sequenceHashesMayFollowLocalHashes() {
    long[] sequence = NaiveIndex.chain(HashFormat.KVASIR, 0, 1, 2, 3, 4);
    scenario.store(A, ROOT, handles(11, 12), 1, 2);

    assertThat(scenario.index().apply(A, sequence(12L, handles(13, 14), sequence[2], sequence[3])))
        .isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2, 3, 4)).isEqualTo(Map.of(A, 4));
    assertThat(scenario.store(A, 11L, handles(12, 13), 2, 3)).isEqualTo(UNCHANGED);
  }

  @Test
  void localHashesMayFollowSequenceHashes() {
    long[] sequence = NaiveIndex.chain(HashFormat.KVASIR, 0, 1, 2);
    scenario.index().apply(A, sequence(null, handles(11, 12), sequence));

    assertThat(scenario.store(A, 12L, handles(13, 14), 3, 4)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2, 3, 4)).isEqualTo(Map.of(A, 4));
    assertThat(scenario.store(B, ROOT, handles(21), 1)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2)).isEqualTo(Map.of(A, 2, B, 1));
    assertThat(scenario.index().stats().distinctBlocks()).isEqualTo(4);
  }

  /** A pool stores and evicts block by block, deepest first, under sequence hashes. */
  @Test
  void eventsOfAPoolAreAppliedAsTheyAre() {
    try (PrefixIndex index = create(HashFormat.TRTLLM_V1)) {
      index.apply(A, BlockEvent.Stored.named(null, 100));
      index.apply(A, BlockEvent.Stored.namedAfter(null, 100, 101));
      index.apply(A, BlockEvent.Stored.namedAfter(null, 101, 102));
      index.apply(B, BlockEvent.Stored.named(HashFormat.TRTLLM_V1, 100));
      index.apply(A, BlockEvent.Stored.namedAfter(null, 100, 111));
      assertThat(IndexScenario.match(index, 100, 101, 102)).isEqualTo(Map.of(A, 3, B, 1));
      assertThat(IndexScenario.match(index, 100, 111)).isEqualTo(Map.of(A, 2, B, 1));

      assertThat(index.apply(A, BlockEvent.Removed.of(102))).isEqualTo(APPLIED);
      assertThat(index.apply(A, BlockEvent.Removed.of(101))).isEqualTo(APPLIED);
      assertThat(IndexScenario.match(index, 100, 101, 102)).isEqualTo(Map.of(A, 1, B, 1));
      index.apply(A, BlockEvent.Stored.namedAfter(null, 100, 101));
      assertThat(IndexScenario.match(index, 100, 101, 102)).isEqualTo(Map.of(A, 2, B, 1));
      index.apply(A, new BlockEvent.Cleared());
      assertThat(IndexScenario.match(index, 100, 101)).isEqualTo(Map.of(B, 1));
    }
  }

  @Test
  void refusesLocalHashesWhereTheFormatDoesNotChainThem() {
    try (PrefixIndex index = create(HashFormat.TRTLLM_V1)) {
      assertThatIllegalArgumentException()
          .isThrownBy(() -> index.apply(A, BlockEvent.Stored.root(handles(1), new long[] {1})))
          .withMessage("local hashes need format kvasir or dynamo: trtllm-v1 does not chain them");
      assertThat(index.stats().memberships()).isZero();
    }
  }

  /** Blocks with sequence hashes after a parent, or as a root. */
  private static BlockEvent sequence(Long parent, long[] handles, long... sequenceHashes) {
    return new BlockEvent.Stored(
        null,
        parent == null,
        parent == null ? 0 : parent,
        0,
        handles,
        null,
        sequenceHashes,
        BlockEvent.Repeats.SAME);
  }
}
