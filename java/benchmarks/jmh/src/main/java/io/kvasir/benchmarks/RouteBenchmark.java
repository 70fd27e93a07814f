package io.kvasir.benchmarks;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.AdpRouterKind;
import io.kvasir.engine.adp.AttentionDpConfig;
import io.kvasir.engine.adp.RankState;
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
 * Routes one request to one of the ranks of a worker.
 *
 * <p>Confined to JMH's thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(RouteBenchmark.DECISIONS)
public class RouteBenchmark {

  static final int DECISIONS = 128;

  private static final int PROMPT_TOKENS = 8192;
  private static final int MAX_ACTIVE_REQUESTS = 256;

  private record Situation(List<RankState> states, List<Request> requests, PrefixMatches matches) {}

  /** Ranks of the worker. */
  @Param({"8", "64"})
  public int ranks;

  /** The router's name. */
  @Param({"default", "kv_cache_aware", "conversation"})
  public String router;

  /** Whether all ranks are equally loaded and have no matches. */
  @Param({"false", "true"})
  public boolean tie;

  private final List<Situation> situations = new ArrayList<>();
  private AdpRouter routing;

  /** Creates the state; JMH fills it. */
  public RouteBenchmark() {}

  /** Generates varied situations, so that branches are not perfectly predicted. */
  @Setup
  public void prepare() {
    routing = AdpRouterKind.named(router).create(ranks, AttentionDpConfig.DEFAULT, null, false);
    SplittableRandom random = new SplittableRandom(1);
    int[] tokens = random.ints(PROMPT_TOKENS, 0, 128_000).toArray();
    for (int id = 0; id < DECISIONS; id++) {
      PrefixMatches matches = new PrefixMatches(ranks, 1);
      List<RankState> states = new ArrayList<>();
      for (int rank = 0; rank < ranks; rank++) {
        if (tie) {
          states.add(new RankState(rank, 16, 100_000));
        } else {
          states.add(new RankState(rank, random.nextInt(8, 24), random.nextLong(200_000)));
          matches.set(rank, 0, random.nextInt(4) == 0 ? random.nextInt(PROMPT_TOKENS) : 0);
        }
      }
      situations.add(
          new Situation(
              states,
              List.of(
                  Request.builder(id, tokens).conversationId("conversation-" + id % 100).build()),
              matches));
    }
  }

  /**
   * Routes one request after the other.
   *
   * @param results keeps them alive
   */
  @Benchmark
  public void route(Blackhole results) {
    for (Situation situation : situations) {
      results.consume(
          routing.route(
              situation.states(), situation.requests(), situation.matches(), MAX_ACTIVE_REQUESTS));
    }
  }
}
