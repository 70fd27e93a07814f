package io.kvasir.fleet.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.event.BlockEvent;
import io.kvasir.event.BlockEvent.Repeats;
import io.kvasir.event.BlockEvent.Stored;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CopyCountsTest {

  private static final RankId A = new RankId(1, 0);
  private static final RankId B = new RankId(1, 1);

  private final CopyCounts index =
      new CopyCounts(new NativePrefixIndex(HashFormat.KVASIR, 4, 8 << 20));

  @AfterEach
  void close() {
    index.close();
  }

  private static Stored root(long... blocks) {
    return Stored.root(blocks, blocks).with(Repeats.COPIES);
  }

  private static Stored after(long parent, long... blocks) {
    return Stored.after(parent, blocks, blocks).with(Repeats.COPIES);
  }

  private ChangeStatus apply(BlockEvent event) {
    return index.apply(A, event);
  }

  @Test
  void aBlockStaysUntilItsLastCopyIsRemoved() {
    apply(root(1, 2, 3));
    apply(after(2, 3));
    apply(after(2, 3, 4));
    assertThat(index.copies(A)).isEqualTo(2);
    assertThat(index.copies(B)).isZero();

    assertThat(apply(BlockEvent.Removed.of(3))).isEqualTo(ChangeStatus.UNCHANGED);
    assertThat(apply(BlockEvent.Removed.of(3, 4))).isEqualTo(ChangeStatus.APPLIED);
    assertThat(index.handles(A)).isEqualTo(3);
    assertThat(index.copies(A)).isZero();
    assertThat(apply(BlockEvent.Removed.of(3))).isEqualTo(ChangeStatus.APPLIED);
    assertThat(index.handles(A)).isEqualTo(2);
  }

  @Test
  void blocksThatAreNamedAgainAreNoCopies() {
    apply(root(1, 2));
    apply(root(1, 2).with(Repeats.SAME));
    assertThat(apply(BlockEvent.Removed.of(1, 2))).isEqualTo(ChangeStatus.APPLIED);
    assertThat(index.handles(A)).isZero();
  }

  @Test
  void aStoreBehindAnUnknownBlockIsNoCopy() {
    apply(root(1, 2));
    assertThat(apply(after(9, 2))).isEqualTo(ChangeStatus.UNKNOWN_PARENT);
    apply(BlockEvent.Removed.of(2));
    assertThat(index.handles(A)).isEqualTo(1);
  }

  @Test
  void copiesOfAnotherTierCountForTheirOwnHandle() {
    apply(root(1, 2));
    long[] disk = {101, 102};
    apply(new BlockEvent.Aliased(disk, new long[] {1, 2}, Repeats.COPIES));
    apply(new BlockEvent.Aliased(disk, new long[] {1, 2}, Repeats.COPIES));
    apply(BlockEvent.Removed.of(1, 2, 101, 102));
    assertThat(index.handles(A)).isEqualTo(2);
    apply(BlockEvent.Removed.of(101, 102));
    assertThat(index.handles(A)).isZero();
  }

  @Test
  void whatARankAnnouncesAgainIsNoCopyFromThenOn() {
    apply(root(1, 2, 3));
    apply(root(1, 2)); // may be a copy
    assertThat(index.copies(A)).isEqualTo(2);
    for (int i = 0; i < 4; i++) {
      apply(root(1, 2, 3).with(Repeats.UNCLEAR));
    }
    apply(after(3, 4));
    assertThat(index.copies(A)).isZero();

    apply(root(1));
    apply(root(1, 2, 3));
    apply(after(3, 4)); // a copy, since only a request's beginning is announced
    assertThat(index.copies(A)).isEqualTo(1);
    apply(BlockEvent.Removed.of(1, 2, 3, 4));
    assertThat(index.handles(A)).isEqualTo(1);

    apply(new BlockEvent.Cleared());
    apply(root(1, 2));
    apply(root(1, 2));
    assertThat(index.copies(A)).isZero();
    index.removeRank(A);
    apply(root(1, 2));
    apply(root(1, 2));
    assertThat(index.copies(A)).as("after a restart").isEqualTo(2);
  }

  @Test
  void oneBlockThatMayBeAnnouncedAgainIsACopy() {
    apply(root(1));
    apply(root(1).with(Repeats.UNCLEAR));
    apply(after(1, 2));
    assertThat(index.copies(A)).isEqualTo(1);
  }

  @Test
  void aRankThatStartsOverHasNoCopies() {
    apply(root(1, 2));
    apply(root(1, 2));
    apply(new BlockEvent.Cleared());
    apply(root(1, 2));
    apply(BlockEvent.Removed.of(1, 2));
    assertThat(index.handles(A)).isZero();

    apply(root(1, 2));
    apply(root(1, 2));
    index.removeRank(A);
    apply(root(1, 2));
    apply(BlockEvent.Removed.of(2, 1));
    assertThat(index.handles(A)).isZero();
  }

  @Test
  void theBlocksOfARankThatHaveCopiesHaveABound() {
    long[] first = LongStream.range(1, CopyCounts.MAX_BLOCKS_OF_RANK + 3).toArray();
    NativePrefixIndex large = new NativePrefixIndex(HashFormat.KVASIR, 4, 1 << 30);
    try (CopyCounts counts = new CopyCounts(large)) {
      counts.apply(A, root(first));
      counts.apply(A, root(first));
      assertThat(counts.copies(A)).isEqualTo(CopyCounts.MAX_BLOCKS_OF_RANK);
      counts.apply(B, root(1, 2));
      counts.apply(B, root(1, 2));
      assertThat(counts.copies(B)).isEqualTo(2);
      counts.apply(A, BlockEvent.Removed.of(first));
      assertThat(counts.copies(A)).isZero();
      assertThat(counts.handles(A)).isEqualTo(CopyCounts.MAX_BLOCKS_OF_RANK);
    }
  }
}
