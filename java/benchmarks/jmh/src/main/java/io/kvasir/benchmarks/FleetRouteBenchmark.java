package io.kvasir.benchmarks;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * Routes requests over ranks of other engines: match, choice and booking of one request, and the
 * end of an earlier one, whose first token comes before. Four requests run on each rank.
 *
 * <p>Confined to JMH's thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class FleetRouteBenchmark {

  private static final int PROMPTS = 512;
  private static final int PROMPT_TOKENS = 2048;
  private static final int PREFIX_TOKENS = 1024;
  private static final int BLOCK_TOKENS = 32;
  private static final int RUNNING = 4;
  private static final long STEP_NS = 1_000_000;

  /** Ranks to choose from. */
  @Param({"8", "64"})
  public int ranks;

  /** The router's name. */
  @Param({"cost", "projected"})
  public String router;

  private final Prompt[] prompts = new Prompt[PROMPTS];
  private final ArrayDeque<Long> running = new ArrayDeque<>();
  private FleetRouter routing;
  private long nowNs;
  private long nextId;

  /** Creates the state; JMH fills it. */
  public FleetRouteBenchmark() {}

  /** Makes prompts that share sixteen prefixes, and fills the ranks. */
  @Setup
  public void prepare() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < PROMPTS; i++) {
      int[] tokens = random.ints(PROMPT_TOKENS, 0, 128_000).toArray();
      for (int t = 0; t < PREFIX_TOKENS; t++) {
        tokens[t] = i % 16;
      }
      prompts[i] = Prompt.of(tokens);
    }
    routing =
        FleetRouterKind.named(router)
            .create(
                Map.of(),
                new FleetRouterSetup(HashFormat.KVASIR, BLOCK_TOKENS, () -> nowNs, Map.of()));
    for (int rank = 0; rank < ranks; rank++) {
      routing.addRank(new RankId(rank, 0), RankCapacity.UNKNOWN);
    }
    for (int i = 0; i < RUNNING * ranks; i++) {
      running.add(place());
    }
  }

  /** Ends all requests. */
  @TearDown
  public void close() {
    routing.close();
  }

  private long place() {
    long id = ++nextId;
    nowNs += STEP_NS;
    FleetRequest request =
        FleetRequest.builder(id, prompts[(int) (id * 31 % PROMPTS)])
            .conversationId("c" + id % PROMPTS)
            .build();
    RouteOutcome.Placed placed = (RouteOutcome.Placed) routing.route(request);
    return placed.placement().attempt();
  }

  /**
   * Places a request and ends the oldest.
   *
   * @return the attempt
   */
  @Benchmark
  public long route() {
    long oldest = running.remove();
    routing.onTokens(oldest, 1);
    routing.onTokens(oldest, 1);
    routing.onFinished(oldest, true);
    long attempt = place();
    running.add(attempt);
    return attempt;
  }
}
