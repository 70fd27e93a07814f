package io.kvasir.benchmarks;

import io.kvasir.fleet.load.ActiveSequences;
import io.kvasir.fleet.load.ActiveSequencesOptions;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.load.SequenceLoad;
import io.kvasir.model.RankId;
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

/**
 * Predicts the load of 8 ranks with 1,000 requests of 200 blocks in flight. One cycle does the work
 * of one request's lifetime: the oldest request ends; the next one is added to the rank with the
 * lowest predicted load; the previous one completes its prefill; and a hundred requests, a
 * different hundred in each cycle, produce a token.
 *
 * <p>Confined to JMH's thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ActiveSequencesBenchmark {

  static final int RANKS = 8;
  static final int BLOCKS = 200;
  static final int PUSHES = 100;

  /**
   * Block operations of a cycle: look-ups on each rank, additions and removals, and tokens pushed.
   */
  static final int BLOCK_TOUCHES = RANKS * BLOCKS + BLOCKS + PUSHES + BLOCKS;

  private static final int IN_FLIGHT = 1000;
  private static final int TOKENS_PER_BLOCK = 32;
  private static final int INPUT_TOKENS = BLOCKS * TOKENS_PER_BLOCK + 1;
  private static final int PROMPTS = 4096;
  private static final int PREFIXES = 10;

  /** Leading blocks of a request that it shares with a tenth of all requests. */
  @Param({"0", "100"})
  public int sharedBlocks;

  private final long[][] prompts = new long[PROMPTS][];
  private final long[] attempts = new long[IN_FLIGHT];
  private final PredictedLoads loads = new PredictedLoads();
  private ActiveSequences sequences;
  private int cycle;

  /** Creates the state; JMH fills it. */
  public ActiveSequencesBenchmark() {}

  /** Generates the prompts' hashes and fills the ranks. */
  @Setup
  public void prepare() {
    SplittableRandom random = new SplittableRandom(1);
    long[] prefixes = random.longs(PREFIXES * BLOCKS).toArray();
    for (int i = 0; i < PROMPTS; i++) {
      prompts[i] = random.longs(BLOCKS).toArray();
      int from = random.nextInt(PREFIXES) * BLOCKS;
      System.arraycopy(prefixes, from, prompts[i], 0, sharedBlocks);
    }
    sequences =
        new ActiveSequences(
            TOKENS_PER_BLOCK,
            ActiveSequencesOptions.DEFAULT.withOutputBlocks(true),
            System::nanoTime);
    for (int rank = 0; rank < RANKS; rank++) {
      sequences.addRank(new RankId(rank, 0));
    }
    for (cycle = 0; cycle < IN_FLIGHT; cycle++) {
      attempts[cycle] = place();
    }
  }

  /**
   * One cycle.
   *
   * @return the attempt added
   */
  @Benchmark
  public long cycle() {
    int oldest = cycle % IN_FLIGHT;
    sequences.free(attempts[oldest]);
    attempts[oldest] = place();
    sequences.prefillDone(attempts[(cycle - 1) % IN_FLIGHT]);
    for (int i = 1; i <= PUSHES; i++) {
      sequences.push(attempts[(cycle + i * (IN_FLIGHT / PUSHES)) % IN_FLIGHT], 1);
    }
    cycle = cycle == Integer.MAX_VALUE - IN_FLIGHT ? IN_FLIGHT : cycle + 1;
    return attempts[oldest];
  }

  private long place() {
    long[] prompt = prompts[cycle % PROMPTS];
    sequences.potential(prompt, BLOCKS, INPUT_TOKENS, loads);
    int best = 0;
    for (int i = 1; i < loads.size(); i++) {
      best = loads.potentialBlocks(i) < loads.potentialBlocks(best) ? i : best;
    }
    return sequences.add(
        cycle, loads.rank(best), new SequenceLoad(prompt, BLOCKS, INPUT_TOKENS, INPUT_TOKENS));
  }
}
