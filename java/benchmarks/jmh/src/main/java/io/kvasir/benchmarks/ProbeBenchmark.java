package io.kvasir.benchmarks;

import io.kvasir.engine.pool.CommitBatch;
import io.kvasir.engine.pool.LeaseBatch;
import io.kvasir.engine.pool.NativeBlockPool;
import io.kvasir.engine.pool.NativePrefixMatcher;
import io.kvasir.engine.pool.PoolShape;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.model.CacheScope;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Probes 64 requests of 250 blocks on 8 ranks with full pools. Each invocation takes other
 * requests; in total they exceed the caches.
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ProbeBenchmark {

  static final int RANKS = 8;
  static final int REQUESTS = 64;
  static final int CAPACITY_BLOCKS = 1_000_000;

  /** Creates the benchmark. */
  public ProbeBenchmark() {}

  /** Selects the next requests. */
  private static final class Turn {
    private final RequestPopulation requests;
    private int next;

    Turn(RequestPopulation requests) {
      this.requests = requests;
    }

    int take() {
      if (next + REQUESTS > requests.size()) {
        next = 0;
      }
      int first = next;
      next += REQUESTS;
      return first;
    }

    void check(int first, PrefixMatches matches) {
      for (int i = 0; i < REQUESTS; i++) {
        for (int rank = 0; rank < RANKS; rank++) {
          int expected = requests.heldBlocks(first + i, rank) * RequestPopulation.TOKENS_PER_BLOCK;
          if (matches.tokens(rank, i) != expected) {
            throw new IllegalStateException(
                "request %d, rank %d: %d tokens matched, not %d"
                    .formatted(first + i, rank, matches.tokens(rank, i), expected));
          }
        }
      }
    }
  }

  /** A native pool, filled by the population. */
  private record PoolRank(NativeBlockPool pool) implements RequestPopulation.Rank {

    static PoolRank create() {
      return new PoolRank(
          NativeBlockPool.create(
              new PoolShape(
                  CAPACITY_BLOCKS,
                  RequestPopulation.TOKENS_PER_BLOCK,
                  1,
                  RequestPopulation.BLOCKS,
                  0)));
    }

    @Override
    public void hold(int[] tokens, long[] sequenceHashes, int blocks) {
      LeaseBatch leases = new LeaseBatch();
      leases.add(tokens, sequenceHashes, CacheScope.NONE, 0, blocks, 0);
      pool.lease(leases);
      CommitBatch commits = new CommitBatch();
      commits.add(leases.lease(0), tokens, sequenceHashes, 0, blocks);
      pool.commit(commits);
      pool.release(new int[] {leases.lease(0)}, 1);
    }
  }

  /** Native pools. */
  @State(Scope.Thread)
  public static class Native {
    private List<PoolRank> ranks;
    private Turn turn;
    private NativePrefixMatcher matcher;
    private final ProbeBatch batch = new ProbeBatch();

    /** Creates the state; JMH fills it. */
    public Native() {}

    /** Fills the pools and checks their contents. */
    @Setup
    public void fill() {
      ranks = Stream.generate(PoolRank::create).limit(RANKS).toList();
      turn = new Turn(RequestPopulation.generate(CAPACITY_BLOCKS, ranks, 1));
      matcher = new NativePrefixMatcher(ranks.stream().map(PoolRank::pool).toList());
      for (int first = 0; first + REQUESTS <= turn.requests.size(); first += REQUESTS) {
        turn.check(first, match(first));
      }
    }

    PrefixMatches match(int first) {
      batch.clear();
      for (int i = 0; i < REQUESTS; i++) {
        batch.add(turn.requests.hashes(first + i), RequestPopulation.BLOCKS);
      }
      return matcher.match(batch);
    }

    /** Frees the pools. */
    @TearDown
    public void close() {
      matcher.close();
      ranks.forEach(rank -> rank.pool().close());
    }
  }

  /** Fastutil sets. */
  @State(Scope.Thread)
  public static class Fastutil {
    private Turn turn;
    private FastutilPrefixMatcher matcher;

    /** Creates the state; JMH fills it. */
    public Fastutil() {}

    /** Fills the sets and checks their contents. */
    @Setup
    public void fill() {
      List<LongOpenHashSet> sets =
          Stream.generate(() -> new LongOpenHashSet(CAPACITY_BLOCKS)).limit(RANKS).toList();
      List<RequestPopulation.Rank> ranks =
          sets.stream().<RequestPopulation.Rank>map(Fastutil::rankOf).toList();
      turn = new Turn(RequestPopulation.generate(CAPACITY_BLOCKS, ranks, 1));
      matcher = new FastutilPrefixMatcher(sets, RequestPopulation.TOKENS_PER_BLOCK);
      for (int first = 0; first + REQUESTS <= turn.requests.size(); first += REQUESTS) {
        turn.check(first, match(first));
      }
    }

    private static RequestPopulation.Rank rankOf(LongOpenHashSet set) {
      return (tokens, sequenceHashes, blocks) -> {
        for (int i = 0; i < blocks; i++) {
          set.add(sequenceHashes[i]);
        }
      };
    }

    PrefixMatches match(int first) {
      return matcher.match(turn.requests, first, REQUESTS);
    }
  }

  /**
   * Builds the batch and matches it in one JNI call.
   *
   * @param state the pools
   * @return matches by rank and request
   */
  @Benchmark
  public PrefixMatches kvasirNative(Native state) {
    return state.match(state.turn.take());
  }

  /**
   * Matches in eight sets, one look-up after the other.
   *
   * @param state the sets
   * @return matches by rank and request
   */
  @Benchmark
  public PrefixMatches fastutilSets(Fastutil state) {
    return state.match(state.turn.take());
  }

  /**
   * As {@link #fastutilSets}, in a JVM with large pages, which the native pools also use.
   *
   * @param state the sets
   * @return matches by rank and request
   */
  @Benchmark
  @Fork(jvmArgsAppend = "-XX:+UseTransparentHugePages")
  public PrefixMatches fastutilSetsInHugePages(Fastutil state) {
    return state.match(state.turn.take());
  }
}
