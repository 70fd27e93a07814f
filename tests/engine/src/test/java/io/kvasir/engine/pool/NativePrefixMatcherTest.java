package io.kvasir.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.model.CacheScope;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class NativePrefixMatcherTest {

  private static final long[] NAMES = {11, 12, 13};

  @Test
  void aRetiredRankHoldsNothingAndItsPoolIsNotTouched() {
    List<NativeBlockPool> pools = new ArrayList<>();
    try {
      for (int rank = 0; rank < 3; rank++) {
        pools.add(NativeBlockPool.create(new PoolShape(8, 2, 4, 8, 0)));
        hold(pools.get(rank), rank + 1);
      }
      try (NativePrefixMatcher matcher = new NativePrefixMatcher(pools)) {
        assertThat(matches(matcher)).containsExactly(2, 4, 6);
        matcher.retire(1);
        matcher.retire(1);
        pools.get(1).close();
        assertThat(matches(matcher)).containsExactly(2, 0, 6);
        matcher.retire(0);
        matcher.retire(2);
        assertThat(matches(matcher)).containsExactly(0, 0, 0);
        assertThatThrownBy(() -> matcher.retire(3)).isInstanceOf(IndexOutOfBoundsException.class);
      }
    } finally {
      pools.forEach(NativeBlockPool::close);
    }
  }

  private static int[] matches(NativePrefixMatcher matcher) {
    ProbeBatch probe = new ProbeBatch();
    probe.add(NAMES, NAMES.length);
    PrefixMatches matches = matcher.match(probe);
    return new int[] {matches.tokens(0, 0), matches.tokens(1, 0), matches.tokens(2, 0)};
  }

  private static void hold(NativeBlockPool pool, int blocks) {
    int[] tokens = {1, 2, 3, 4, 5, 6};
    LeaseBatch leases = new LeaseBatch();
    leases.add(tokens, NAMES, CacheScope.NONE, 0, blocks, 0);
    pool.lease(leases);
    CommitBatch commits = new CommitBatch();
    commits.add(leases.lease(0), tokens, NAMES, 0, blocks);
    pool.commit(commits);
    pool.release(new int[] {leases.lease(0)}, 1);
  }
}
