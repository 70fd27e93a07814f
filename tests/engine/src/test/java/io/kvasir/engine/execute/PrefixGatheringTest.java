package io.kvasir.engine.execute;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.DefaultAdpRouter;
import io.kvasir.engine.adp.LoadMetric;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.NativePrefixMatcher;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Request;
import io.kvasir.timing.StepTiming;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a router gets of the prefixes that ranks hold (conformance vector KV26). */
class PrefixGatheringTest {

  private static final CacheScope TENANT = CacheScope.NONE.withLora(42).withSalt("tenant-a");
  private static final int[] PROMPT = {11, 12, 13, 14, 15, 16, 17, 18};

  private final BlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, 1);

  @Test
  void everyRankIsAskedForAllTokensButTheLastInTheRequestsScope() {
    PoolShape shape = new PoolShape(16, 1, 4, 16, 0);
    try (NativeBlockPool rank0 = NativeBlockPool.create(shape);
        NativeBlockPool rank1 = NativeBlockPool.create(shape);
        NativePrefixMatcher matcher = new NativePrefixMatcher(List.of(rank0, rank1))) {
      hold(rank0, 2);
      hold(rank1, PROMPT.length);
      ListeningRouter router = new ListeningRouter();
      AdpLoop loop = loop(List.of(rank0, rank1), router, matcher);
      loop.submit(hashed(Request.builder(23, PROMPT).scope(TENANT).build()));
      loop.submit(hashed(Request.builder(17, new int[] {11}).build()));
      loop.submit(hashed(Request.builder(18, PROMPT).build()));
      loop.iterate(0);
      assertThat(router.matchesOfRank(0, 3)).containsExactly(2, 0, 0);
      assertThat(router.matchesOfRank(1, 3)).containsExactly(7, 0, 0);
    }
  }

  private AdpLoop loop(List<NativeBlockPool> pools, AdpRouter router, NativePrefixMatcher matcher) {
    ExecutorOptions options = ExecutorOptions.DEFAULT.withMaxActiveRequests(4);
    StepEngine engine = new TimedStepEngine(StepTiming.DEFAULT);
    RequestListener none = new RequestListener() {};
    List<RankExecutor> executors =
        List.of(
            new RankExecutor(0, pools.get(0), hasher, engine, options, none),
            new RankExecutor(1, pools.get(1), hasher, engine, options, none));
    return new AdpLoop(executors, router, matcher, new FcfsQueue(), none);
  }

  private HashedRequest hashed(Request request) {
    return new HashedRequest(request, hasher.hash(request.tokens(), request.scope()));
  }

  /** Leaves the first blocks of the prompt in a pool. */
  private void hold(NativeBlockPool pool, int blocks) {
    long[] hashes = hasher.hash(PROMPT, TENANT).sequence();
    LeaseBatch leases = new LeaseBatch();
    leases.add(PROMPT, hashes, TENANT, 0, blocks, 0);
    pool.lease(leases);
    CommitBatch commits = new CommitBatch();
    commits.add(leases.lease(0), PROMPT, hashes, 0, blocks);
    pool.commit(commits);
    pool.release(new int[] {leases.lease(0)}, 1);
  }

  /** Remembers the matches it was given and places like the default router. */
  private static final class ListeningRouter implements AdpRouter {
    private final AdpRouter places = new DefaultAdpRouter(2);
    private PrefixMatches given;

    int[] matchesOfRank(int rank, int requests) {
      int[] tokens = new int[requests];
      for (int i = 0; i < requests; i++) {
        tokens[i] = given.tokens(rank, i);
      }
      return tokens;
    }

    @Override
    public String name() {
      return "listening";
    }

    @Override
    public boolean needsPrefixMatches() {
      return true;
    }

    @Override
    public LoadMetric loadMetric() {
      return places.loadMetric();
    }

    @Override
    public Assignment route(
        List<RankState> states, List<Request> requests, PrefixMatches matches, int maxActive) {
      given = matches;
      return places.route(states, requests, matches, maxActive);
    }
  }
}
