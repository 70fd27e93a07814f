package io.kvasir;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.KvCacheAwareAdpRouter;
import io.kvasir.engine.adp.KvCacheRoutingOptions;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.NativePrefixMatcher;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.NativeBlockHasher;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Request;
import java.util.List;
import java.util.stream.IntStream;

/** The program of the README. {@code ReadmeTest} compares both and runs it. */
public final class ReadmeExample {

  private ReadmeExample() {}

  public static void main(String[] args) {
    // README begin
    BlockHasher hasher = NativeBlockHasher.of(HashFormat.KVASIR, 32);
    AdpRouter router = new KvCacheAwareAdpRouter(2, KvCacheRoutingOptions.DEFAULT);
    PoolShape shape = new PoolShape(1_000, hasher.tokensPerBlock(), 16, 1_000, 0);
    try (NativeBlockPool rank0 = NativeBlockPool.create(shape);
        NativeBlockPool rank1 = NativeBlockPool.create(shape);
        NativePrefixMatcher matcher = new NativePrefixMatcher(List.of(rank0, rank1))) {
      int[] prompt = IntStream.range(0, 320).toArray();
      BlockHashes hashes = hasher.hash(prompt, CacheScope.NONE);
      LeaseBatch leases = new LeaseBatch(); // rank 1 has served this prompt before
      leases.add(prompt, hashes.sequence(), CacheScope.NONE, 0, 10, 0);
      rank1.lease(leases);
      CommitBatch commits = new CommitBatch();
      commits.add(leases.lease(0), prompt, hashes.sequence(), 0, 10);
      rank1.commit(commits);
      ProbeBatch probe = new ProbeBatch(); // all blocks but the last token's may be reused
      probe.add(hashes.sequence(), (prompt.length - 1) / 32);
      List<RankState> idle = List.of(new RankState(0, 0, 0), new RankState(1, 0, 0));
      Request request = Request.builder(7, prompt).maxNewTokens(100).build();
      System.out.println(
          router.route(idle, List.of(request), matcher.match(probe), 64).decisions().get(0));
    }
    // README end
  }
}
