package io.kvasir.fleet.index;

import static io.kvasir.fleet.index.ChangeStatus.APPLIED;
import static io.kvasir.fleet.index.ChangeStatus.INVALID_SEQUENCE;
import static io.kvasir.fleet.index.ChangeStatus.UNCHANGED;
import static io.kvasir.fleet.index.ChangeStatus.UNKNOWN_BLOCK;
import static io.kvasir.fleet.index.ChangeStatus.UNKNOWN_PARENT;
import static io.kvasir.fleet.index.IndexScenario.ROOT;
import static io.kvasir.fleet.index.IndexScenario.handles;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The contract of every prefix index, in worked cases. */
abstract class PrefixIndexContract extends BlockNamingContract {

  @Test
  void matchesLeadingBlocksOfEachRank() {
    assertThat(scenario.store(A, ROOT, handles(11, 12, 13), 1, 2, 3)).isEqualTo(APPLIED);
    assertThat(scenario.store(B, ROOT, handles(21, 22), 1, 2)).isEqualTo(APPLIED);
    assertThat(scenario.store(C, ROOT, handles(31, 32), 1, 9)).isEqualTo(APPLIED);

    assertThat(scenario.match(1, 2, 3, 4)).isEqualTo(Map.of(A, 3, B, 2, C, 1));
    assertThat(scenario.match(1, 9)).isEqualTo(Map.of(A, 1, B, 1, C, 2));
    assertThat(scenario.match(2, 3)).isEmpty();
    assertThat(scenario.match()).isEmpty();
  }

  @Test
  void countsOnlyTheBlocksAskedFor() {
    scenario.store(A, ROOT, handles(11, 12, 13), 1, 2, 3);
    RankMatches matches = new RankMatches();
    long[] sequence = NaiveIndex.chain(HashFormat.KVASIR, 0, 1, 2, 3);

    scenario.index().match(sequence, 2, matches);
    assertThat(matches.blocks(A)).isEqualTo(2);
    scenario.index().match(sequence, 0, matches);
    assertThat(matches.size()).isZero();
  }

  @Test
  void continuesBehindAParent() {
    scenario.store(A, ROOT, handles(11), 1);
    assertThat(scenario.store(A, 11L, handles(12), 2)).isEqualTo(APPLIED);
    assertThat(scenario.store(A, 12L, handles(13, 14), 3, 4)).isEqualTo(APPLIED);
    assertThat(scenario.store(A, 12L, handles(23, 24), 5, 6)).isEqualTo(APPLIED);

    assertThat(scenario.match(1, 2, 3, 4)).isEqualTo(Map.of(A, 4));
    assertThat(scenario.match(1, 2, 5, 6)).isEqualTo(Map.of(A, 4));
    assertThat(scenario.match(1, 2, 3, 6)).isEqualTo(Map.of(A, 3));
  }

  @Test
  void countsALoneHolderToItsEnd() {
    scenario.store(A, ROOT, handles(1, 2, 3, 4, 5, 6, 7, 8), 1, 2, 3, 4, 5, 6, 7, 8);
    scenario.store(B, ROOT, handles(1), 1);

    assertThat(scenario.match(1, 2, 3, 4, 5, 6, 7, 8)).isEqualTo(Map.of(A, 8, B, 1));
  }

  @Test
  void aHoleHidesWhatLiesBehindItUntilItIsFilled() {
    scenario.store(A, ROOT, handles(11, 12, 13, 14), 1, 2, 3, 4);
    scenario.store(B, ROOT, handles(11, 12, 13, 14), 1, 2, 3, 4);

    assertThat(scenario.remove(A, 12)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2, 3, 4)).isEqualTo(Map.of(A, 1, B, 4));
    assertThat(scenario.store(A, 11L, handles(99), 2)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2, 3, 4)).isEqualTo(Map.of(A, 4, B, 4));
  }

  @Test
  void aRankWithoutTheFirstBlockMatchesNothing() {
    scenario.store(A, ROOT, handles(11, 12, 13), 1, 2, 3);

    assertThat(scenario.remove(A, 11)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2, 3)).isEmpty();
    assertThat(scenario.store(A, 13L, handles(14), 4)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2, 3, 4)).isEmpty();
    assertThat(scenario.store(A, ROOT, handles(11), 1)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2, 3, 4)).isEqualTo(Map.of(A, 4));
  }

  @Test
  void aBlockIsHeldAsLongAsAHandleNamesIt() {
    scenario.store(A, ROOT, handles(11, 12), 1, 2);
    assertThat(scenario.store(A, 11L, handles(22), 2)).isEqualTo(APPLIED);
    assertThat(scenario.index().stats().memberships()).isEqualTo(3);
    assertThat(scenario.index().stats().distinctBlocks()).isEqualTo(2);

    scenario.remove(A, 12);
    assertThat(scenario.match(1, 2)).isEqualTo(Map.of(A, 2));
    assertThat(scenario.store(A, 22L, handles(33), 3)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2, 3)).isEqualTo(Map.of(A, 3));
    scenario.remove(A, 22);
    assertThat(scenario.match(1, 2, 3)).isEqualTo(Map.of(A, 1));
  }

  @Test
  void storingAgainChangesNothing() {
    scenario.store(A, ROOT, handles(11, 12), 1, 2);

    assertThat(scenario.store(A, ROOT, handles(11, 12), 1, 2)).isEqualTo(UNCHANGED);
    assertThat(scenario.store(A, 11L, handles(12), 2)).isEqualTo(UNCHANGED);
    assertThat(scenario.store(A, ROOT, handles(11, 12, 13), 1, 2, 3)).isEqualTo(APPLIED);
    assertThat(scenario.index().stats().memberships()).isEqualTo(3);
    scenario.remove(A, 12);
    assertThat(scenario.match(1, 2, 3)).isEqualTo(Map.of(A, 1));
  }

  @Test
  void aHandleMovesToTheBlockItNamesLast() {
    scenario.store(A, ROOT, handles(11, 12, 13), 1, 2, 3);

    assertThat(scenario.store(A, ROOT, handles(12), 5)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2, 3)).isEqualTo(Map.of(A, 1));
    assertThat(scenario.match(5)).isEqualTo(Map.of(A, 1));
    assertThat(scenario.store(A, 12L, handles(14), 6)).isEqualTo(APPLIED);
    assertThat(scenario.match(5, 6)).isEqualTo(Map.of(A, 2));
    assertThat(scenario.index().stats().memberships()).isEqualTo(4);
  }

  @Test
  void anEventMayMoveTheHandlesOfItsOwnAncestors() {
    scenario.store(A, ROOT, handles(11, 12), 1, 2);

    assertThat(scenario.store(A, 12L, handles(13, 11), 3, 4)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2, 3, 4)).isEmpty();
    scenario.store(A, ROOT, handles(10), 1);
    assertThat(scenario.match(1, 2, 3, 4)).isEqualTo(Map.of(A, 4));
  }

  @Test
  void matchesCandidatesAlone() {
    scenario.store(A, ROOT, handles(11, 12), 1, 2);
    scenario.store(B, ROOT, handles(11), 1);
    RankMatches matches = new RankMatches();
    long[] prompt = NaiveIndex.chain(HashFormat.KVASIR, 0, 1, 2);

    scenario.index().match(prompt, 2, A::equals, matches);
    assertThat(matches.size()).isEqualTo(1);
    assertThat(matches.blocks(A)).isEqualTo(2);
    scenario.index().match(prompt, 2, rank -> false, matches);
    assertThat(matches.size()).isZero();
  }

  @Test
  void refusesAnUnknownParentAndDoesNothing() {
    scenario.store(A, ROOT, handles(11), 1);

    assertThat(scenario.store(A, 99L, handles(12), 2)).isEqualTo(UNKNOWN_PARENT);
    assertThat(scenario.store(B, 11L, handles(12), 2)).isEqualTo(UNKNOWN_PARENT);
    scenario.remove(A, 11);
    assertThat(scenario.store(A, 11L, handles(12), 2)).isEqualTo(UNKNOWN_PARENT);
    assertThat(scenario.index().stats().memberships()).isZero();
    assertThat(scenario.index().stats().ranks()).isEqualTo(1);
  }

  @Test
  void refusesHandlesThatComeTwiceAndDoesNothing() {
    scenario.store(A, ROOT, handles(11), 1);

    assertThat(scenario.store(A, 11L, handles(12, 11), 2, 3)).isEqualTo(INVALID_SEQUENCE);
    assertThat(scenario.store(A, 11L, handles(12, 13, 12), 2, 3, 4)).isEqualTo(INVALID_SEQUENCE);
    assertThat(scenario.store(A, ROOT, handles(12, 12), 2, 3)).isEqualTo(INVALID_SEQUENCE);
    assertThat(scenario.store(A, 99L, handles(99), 2)).isEqualTo(INVALID_SEQUENCE);
    assertThat(scenario.index().stats().memberships()).isEqualTo(1);
    assertThat(scenario.match(1, 2)).isEqualTo(Map.of(A, 1));
  }

  @Test
  void passesOverUnknownBlocksInARemoval() {
    scenario.store(A, ROOT, handles(11, 12, 13), 1, 2, 3);

    assertThat(scenario.remove(A, 99)).isEqualTo(UNKNOWN_BLOCK);
    assertThat(scenario.remove(A, 99, 13, 98, 12)).isEqualTo(UNKNOWN_BLOCK);
    assertThat(scenario.match(1, 2, 3)).isEqualTo(Map.of(A, 1));
    assertThat(scenario.remove(A, 11, 11)).isEqualTo(UNKNOWN_BLOCK);
    assertThat(scenario.remove(B, 11)).isEqualTo(UNKNOWN_BLOCK);
    assertThat(scenario.index().stats().memberships()).isZero();
  }

  @Test
  void handlesBelongToOneRankAlone() {
    scenario.store(A, ROOT, handles(11, 12), 1, 2);
    scenario.store(B, ROOT, handles(12, 11), 3, 4);
    scenario.store(B, 11L, handles(13), 5);

    assertThat(scenario.match(1, 2)).isEqualTo(Map.of(A, 2));
    assertThat(scenario.match(3, 4, 5)).isEqualTo(Map.of(B, 3));
    scenario.remove(B, 11);
    assertThat(scenario.match(1, 2)).isEqualTo(Map.of(A, 2));
    assertThat(scenario.match(3, 4, 5)).isEqualTo(Map.of(B, 1));
  }

  @Test
  void clearsOneRankOnly() {
    scenario.store(A, ROOT, handles(11, 12), 1, 2);
    scenario.store(B, ROOT, handles(11, 12), 1, 2);
    scenario.store(C, ROOT, handles(11, 12), 1, 2);

    assertThat(scenario.clear(B)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2)).isEqualTo(Map.of(A, 2, C, 2));
    assertThat(scenario.store(B, 11L, handles(12), 2)).isEqualTo(UNKNOWN_PARENT);
    assertThat(scenario.clear(B)).isEqualTo(UNCHANGED);
    assertThat(scenario.store(B, ROOT, handles(12), 1)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2)).isEqualTo(Map.of(A, 2, B, 1, C, 2));
  }

  @Test
  void forgetsARemovedRank() {
    scenario.store(A, ROOT, handles(11, 12), 1, 2);
    scenario.store(B, ROOT, handles(11, 12), 1, 2);

    scenario.index().removeRank(A);
    scenario.index().removeRank(C);
    assertThat(scenario.match(1, 2)).isEqualTo(Map.of(B, 2));
    assertThat(counts()).containsExactly(1, 1, 2, 2);
    assertThat(scenario.store(A, ROOT, handles(12), 2)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2)).isEqualTo(Map.of(B, 2));
    assertThat(scenario.match(2)).isEqualTo(Map.of(A, 1));
    scenario.index().removeRank(A);
    scenario.index().removeRank(B);
    assertThat(counts()).containsExactly(0, 0, 0, 0);
  }

  @Test
  void aHiddenRankFollowsChangesButMatchesNothing() {
    scenario.store(A, ROOT, handles(11), 1);
    scenario.store(B, ROOT, handles(11), 1);

    scenario.index().setVisible(A, false);
    assertThat(scenario.match(1, 2)).isEqualTo(Map.of(B, 1));
    assertThat(scenario.store(A, 11L, handles(12), 2)).isEqualTo(APPLIED);
    assertThat(scenario.match(1, 2)).isEqualTo(Map.of(B, 1));
    scenario.index().setVisible(A, true);
    assertThat(scenario.match(1, 2)).isEqualTo(Map.of(A, 2, B, 1));
  }

  @Test
  void aRankMayBeHiddenBeforeItIsKnown() {
    scenario.index().setVisible(A, false);
    assertThat(scenario.index().stats().ranks()).isZero();
    scenario.store(A, ROOT, handles(11), 1);

    assertThat(scenario.match(1)).isEmpty();
    scenario.clear(A);
    scenario.store(A, ROOT, handles(11), 1);
    assertThat(scenario.match(1)).isEmpty();
    scenario.index().removeRank(A);
    scenario.store(A, ROOT, handles(11), 1);
    assertThat(scenario.match(1)).isEqualTo(Map.of(A, 1));
  }

  @Test
  void tellsRanksApartPastSixtyFourAndTwoHundred() {
    Map<RankId, Integer> expected = new TreeMap<>();
    for (int i = 0; i < 260; i++) {
      RankId rank = new RankId(1000 - i / 2, i % 2);
      int blocks = 1 + i % 5;
      for (long block = 1; block <= blocks; block++) {
        scenario.store(rank, block == 1 ? ROOT : Long.valueOf(block - 1), handles(block), block);
      }
      expected.put(rank, blocks);
    }
    assertThat(scenario.match(1, 2, 3, 4, 5)).isEqualTo(expected);
    assertThat(counts()).containsExactly(130, 260, 780, 5);

    for (int i = 0; i < 260; i += 3) {
      RankId rank = new RankId(1000 - i / 2, i % 2);
      expected.remove(rank);
      scenario.index().removeRank(rank);
    }
    assertThat(scenario.match(1, 2, 3, 4, 5)).isEqualTo(expected);
  }

  @Test
  void anEmptyChangeChangesNothing() {
    scenario.store(A, ROOT, handles(11), 1);

    assertThat(scenario.store(A, ROOT, handles())).isEqualTo(UNCHANGED);
    assertThat(scenario.store(A, 11L, handles())).isEqualTo(UNCHANGED);
    assertThat(scenario.remove(A)).isEqualTo(UNCHANGED);
    assertThat(scenario.clear(B)).isEqualTo(UNCHANGED);
    assertThat(counts()).containsExactly(1, 1, 1, 1);
  }

  /** Workers, ranks, memberships, blocks. */
  private long[] counts() {
    IndexStats stats = scenario.index().stats();
    return new long[] {stats.workers(), stats.ranks(), stats.memberships(), stats.distinctBlocks()};
  }
}
