package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvasir.testing.pool.PoolScenario;
import io.kvasir.testing.pool.Prompt;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Naming: once per name, never for foreign content. */
interface CommitContract extends PoolContract {

  @Test
  default void blocksAreFoundWhenTheyAreCommittedNotWhenTheyAreLeased() {
    try (PoolScenario pool = pool(8)) {
      int lease = pool.start(pool.want("ABC"));
      assertThat(pool.held("ABC")).isZero();
      pool.commit(lease, "ABC", 0, 2);
      assertThat(pool.held("ABC")).isEqualTo(2);
      pool.commit(lease, "ABC", 2, 3);
      assertThat(pool.held("ABC")).isEqualTo(3);
    }
  }

  @Test
  default void commitsContinueBehindTheMatchedBlocks() {
    try (PoolScenario pool = pool(8)) {
      pool.cache("AB");
      pool.events();
      int lease = pool.start(pool.want("ABCD"));
      assertThatIllegalArgumentException().isThrownBy(() -> pool.commit(lease, "ABCD", 0, 3));
      pool.commit(lease, "ABCD", 2, 4);
      assertThat(pool.events()).containsExactly("+ABC", "+ABCD");
    }
  }

  @Test
  default void commitsDoNotAdvanceTheTick() {
    try (PoolScenario pool = pool(8)) {
      int lease = pool.start(pool.want("AB"));
      Occupancy before = pool.occupancy();
      pool.commit(lease, "AB", 0, 2);
      assertThat(pool.occupancy()).isEqualTo(before);
    }
  }

  @Test
  default void aSecondCopyIsGivenUpForTheNamedBlock() {
    try (PoolScenario pool = pool(8)) {
      int first = pool.start(pool.want("AB"));
      int second = pool.start(pool.want("AB").andNew(1));
      pool.commit(first, "AB", 0, 2);
      List<Integer> own = pool.table(second);
      pool.events();
      pool.commit(second, "AB", 0, 2);
      assertThat(pool.events()).isEmpty();
      assertThat(pool.table(second).subList(0, 2)).isEqualTo(pool.table(first));
      assertThat(pool.table(second).get(2)).isEqualTo(own.get(2));
      assertThat(pool.counts()).isEqualTo(List.of(5L, 0L, 3L, 0L));
    }
  }

  @Test
  default void twoCopiesInOneBatchBecomeOne() {
    try (PoolScenario pool = pool(8)) {
      LeaseBatch leases = pool.lease(pool.want("AB"), pool.want("AB"));
      Prompt prompt = pool.prompt("AB");
      CommitBatch batch = new CommitBatch();
      batch.add(leases.lease(0), prompt.tokens(), prompt.names(), 0, 1);
      batch.add(leases.lease(1), prompt.tokens(), prompt.names(), 0, 2);
      pool.pool().commit(batch);
      pool.commit(leases.lease(0), "AB", 1, 2);
      assertThat(pool.events()).containsExactly("+A", "+AB");
      assertThat(pool.table(leases.lease(0))).isEqualTo(pool.table(leases.lease(1)));
      assertThat(pool.counts()).isEqualTo(List.of(6L, 0L, 2L, 0L));
    }
  }

  @Test
  default void aSecondCopyTakesItsReferenceOnACachedBlock() {
    try (PoolScenario pool = pool(8)) {
      int second = pool.start(pool.want("AB"));
      pool.cache("AB");
      assertThat(pool.counts()).isEqualTo(List.of(4L, 2L, 2L, 0L));
      pool.commit(second, "AB", 0, 2);
      assertThat(pool.counts()).isEqualTo(List.of(6L, 0L, 2L, 0L));
      pool.release(second);
      assertThat(pool.counts()).isEqualTo(List.of(6L, 2L, 0L, 0L));
    }
  }

  @Test
  default void aTakenNameLeavesTheBlockAndAllLaterOnesOfItsLeaseUnnamed() {
    try (PoolScenario pool = pool(12)) {
      pool.cache("AB");
      pool.events();
      Prompt foreign =
          pool.prompt("AXYZ")
              .named(pool.name("A"), pool.name("AB"), pool.name("AXY"), pool.name("AXYZ"));
      int lease = pool.start(pool.want(foreign));
      pool.commit(lease, foreign, 1, 3);
      pool.commit(lease, foreign, 3, 4);
      assertThat(pool.events()).isEmpty();
      assertThat(pool.held(foreign)).isEqualTo(2);
      pool.release(lease);
      assertThat(pool.counts()).isEqualTo(List.of(10L, 2L, 0L, 0L));
    }
  }

  @Test
  default void aLeaseThatMetATakenNameNamesNothingEvenWhenTheNameIsFreeAgain() {
    try (PoolScenario pool = pool(6)) {
      pool.cache("A");
      Prompt foreign = pool.prompt("XY").named(pool.name("A"), pool.name("XY"));
      int lease = pool.start(pool.want(foreign));
      pool.commit(lease, foreign, 0, 1);
      pool.release(pool.start(pool.want("QRST")));
      assertThat(pool.held("A")).isZero();
      pool.events();
      pool.commit(lease, foreign, 1, 2);
      assertThat(pool.events()).isEmpty();
      assertThat(pool.held(pool.prompt("Y").named(pool.name("XY")))).isZero();
    }
  }

  @Test
  default void aTakenNameDoesNotTouchTheOtherLeasesOfTheBatch() {
    try (PoolScenario pool = pool(12)) {
      pool.cache("A");
      pool.events();
      Prompt foreign = pool.prompt("XY").named(pool.name("A"), pool.name("XY"));
      Prompt good = pool.prompt("BC");
      int first = pool.start(pool.want(foreign));
      int second = pool.start(pool.want(good));
      CommitBatch batch = new CommitBatch();
      batch.add(first, foreign.tokens(), foreign.names(), 0, 2);
      batch.add(second, good.tokens(), good.names(), 0, 2);
      pool.pool().commit(batch);
      assertThat(pool.events()).containsExactly("+B", "+BC");
    }
  }

  @Test
  default void aBlockWhoseNameItsOwnAncestorHasStaysUnnamed() {
    try (PoolScenario pool = pool(8)) {
      Prompt loop = pool.prompt("AA").named(pool.name("A"), pool.name("A"));
      int lease = pool.start(pool.want(loop));
      pool.commit(lease, loop, 0, 2);
      assertThat(pool.events()).containsExactly("+A");
      assertThat(pool.table(lease)).doesNotHaveDuplicates();
    }
  }

  @Test
  default void anyHashValueIsAName() {
    for (long name : new long[] {0, 1, -1, -2, Long.MIN_VALUE, Long.MAX_VALUE}) {
      try (PoolScenario pool = pool(4)) {
        Prompt prompt = pool.prompt("A").named(name);
        assertThat(pool.held(prompt)).isZero();
        pool.release(pool.hold(prompt));
        assertThat(pool.held(prompt)).as("name %x", name).isEqualTo(1);
        assertThat(pool.lease(pool.want(prompt)).matchedBlocks(0)).isEqualTo(1);
      }
    }
  }

  @Test
  default void aBadEntryIsAnErrorAndNothingOfItsBatchHappens() {
    try (PoolScenario pool = pool(12)) {
      int good = pool.start(pool.want("AB"));
      int gone = pool.start(pool.want("C"));
      int bad = pool.hold("DEF");
      pool.extend(bad, 1);
      pool.release(gone);
      pool.events();
      rejectsBehind(pool, good, gone, 0, 1);
      rejectsBehind(pool, good, -1, 0, 1);
      rejectsBehind(pool, good, Integer.MAX_VALUE, 0, 1);
      rejectsBehind(pool, good, bad, 2, 4);
      rejectsBehind(pool, good, bad, 4, 5);
      rejectsBehind(pool, good, bad, 3, 5);
      rejectsBehind(pool, good, good, 0, 1);
      pool.commit(good, "AB", 0, 2);
      assertThat(pool.events()).containsExactly("+A", "+AB");
    }
  }

  private static void rejectsBehind(PoolScenario pool, int good, int lease, int from, int to) {
    Occupancy before = pool.occupancy();
    CommitBatch batch = new CommitBatch();
    Prompt prompt = pool.prompt("AB");
    batch.add(good, prompt.tokens(), prompt.names(), 0, 2);
    Prompt other = pool.prompt("DEFGHIJ");
    batch.add(lease, other.tokens(), other.names(), from, to);
    assertThatIllegalArgumentException()
        .as("lease %d, blocks %d to %d", lease, from, to)
        .isThrownBy(() -> pool.pool().commit(batch));
    assertThat(pool.occupancy()).isEqualTo(before);
    assertThat(pool.events()).isEmpty();
    assertThat(pool.held("AB")).isZero();
  }

  @Test
  default void tokensThatDoNotCoverTheRangeAreAnError() {
    try (PoolScenario pool = pool(8)) {
      int lease = pool.start(pool.want("AB"));
      Prompt prompt = pool.prompt("AB");
      int[] tokens = Arrays.copyOf(prompt.tokens(), prompt.tokens().length - 1);
      Prompt cut = new Prompt(tokens, prompt.names(), prompt.scope());
      assertThatIllegalArgumentException().isThrownBy(() -> pool.commit(lease, cut, 0, 2));
      assertThat(pool.held("AB")).isZero();
    }
  }
}
