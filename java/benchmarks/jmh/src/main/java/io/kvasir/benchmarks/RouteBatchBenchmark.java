package io.kvasir.benchmarks;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.BlockDemand;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.adp.RankWork;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Routes batches of 64 requests over ranks whose loads, pools, work and matches are given. The
 * reported time is per decision.
 *
 * <p>Confined to JMH's thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(RouteBatchBenchmark.BATCHES * RouteBatchBenchmark.REQUESTS)
public class RouteBatchBenchmark {

  static final int BATCHES = 16;
  static final int REQUESTS = 64;

  private static final int MAX_ACTIVE_REQUESTS = 256;
  private static final int TOKENS_PER_BLOCK = 32;
  private static final int POOL_BLOCKS = 31_250;
  private static final int FAMILIES = 16;
  private static final int CONVERSATIONS = 4096;

  private record Batch(List<RankState> states, List<Request> requests, PrefixMatches matches) {}

  /** Ranks of the worker. */
  @Param({"8", "64"})
  public int ranks;

  /** The router's name. */
  @Param({"default", "kv_cache_aware", "conversation", "projected"})
  public String router;

  private final SplittableRandom random = new SplittableRandom(1);
  private final List<Batch> batches = new ArrayList<>();
  private AdpRouter routing;

  /** Creates the state; JMH fills it. */
  public RouteBatchBenchmark() {}

  /** Generates different batches and checks that all of their requests are placed. */
  @Setup
  public void prepare() {
    routing =
        AdpRouterKind.named(router)
            .create(
                ranks, AttentionDpConfig.DEFAULT, new BlockDemand(TOKENS_PER_BLOCK, true), false);
    for (int batch = 0; batch < BATCHES; batch++) {
      List<Request> requests = new ArrayList<>();
      for (int i = 0; i < REQUESTS; i++) {
        requests.add(request((long) batch * REQUESTS + i));
      }
      batches.add(new Batch(states(), requests, matches(requests)));
      Assignment assignment = route(batches.get(batch));
      if (!assignment.unassigned().isEmpty()) {
        throw new IllegalStateException(router + " leaves requests unplaced: " + assignment);
      }
    }
  }

  /** A prompt of 1,000 to 16,000 tokens that shares its prefix with a sixteenth of the others. */
  private Request request(long id) {
    int family = random.nextInt(FAMILIES);
    int[] tokens = new int[random.nextInt(1_000, 16_000)];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = i < 512 ? family * 1_000 + i : random.nextInt(128_000);
    }
    return Request.builder(id, tokens)
        .maxNewTokens(random.nextInt(50, 500))
        .conversationId("conversation-" + random.nextInt(CONVERSATIONS))
        .build();
  }

  private List<RankState> states() {
    List<RankState> states = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      long free = random.nextInt(2_000);
      long active = random.nextInt(POOL_BLOCKS / 2);
      long cached = POOL_BLOCKS - free - active;
      long prefillTokens = random.nextInt(40_000);
      states.add(
          new RankState(rank, random.nextInt(8, 24), random.nextLong(200_000))
              .withOccupancy(
                  random.nextInt(500),
                  new Occupancy(
                      POOL_BLOCKS, free, cached, active, random.nextInt(200), 0, 0, 1_000))
              .withWork(
                  new RankWork(
                      random.nextInt(4),
                      prefillTokens,
                      RankWork.attendedPairs(0, prefillTokens),
                      random.nextInt(16),
                      random.nextInt(200_000))));
    }
    return states;
  }

  /** A rank matches the shared prefix of a prompt, a longer prefix or nothing, in whole blocks. */
  private PrefixMatches matches(List<Request> requests) {
    PrefixMatches matches = new PrefixMatches(ranks, requests.size());
    for (int i = 0; i < requests.size(); i++) {
      int blocks = (requests.get(i).promptTokens() - 1) / TOKENS_PER_BLOCK;
      for (int rank = 0; rank < ranks; rank++) {
        int held =
            switch (random.nextInt(8)) {
              case 0 -> random.nextInt(blocks + 1);
              case 1, 2 -> Math.min(blocks, 16);
              default -> 0;
            };
        matches.set(rank, i, held * TOKENS_PER_BLOCK);
        if (routing.readsWork() && random.nextInt(8) == 0) {
          matches.setPending(rank, i, random.nextInt(held, blocks + 1) * TOKENS_PER_BLOCK);
        }
      }
    }
    return matches;
  }

  private Assignment route(Batch batch) {
    return routing.route(batch.states(), batch.requests(), batch.matches(), MAX_ACTIVE_REQUESTS);
  }

  /**
   * Routes one batch after the other.
   *
   * @param results keeps them alive
   */
  @Benchmark
  public void route(Blackhole results) {
    for (Batch batch : batches) {
      results.consume(route(batch));
    }
  }
}
