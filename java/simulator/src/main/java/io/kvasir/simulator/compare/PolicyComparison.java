package io.kvasir.simulator.compare;

import io.kvasir.simulator.replay.ReplayResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.function.LongFunction;

/**
 * Replays one load under several policies and several seeds.
 *
 * <p>Everything is modelled, so results do not depend on the machine or the number of threads.
 * Immutable. Does not own its threads.
 *
 * @param seeds seeds of the replays, 1 to {@link Estimate#MAX_VALUES}
 * @param measures the figures to estimate
 * @param threads run the replays
 */
record PolicyComparison(List<Long> seeds, List<Measure> measures, ExecutorService threads) {

  /** Copies the lists. */
  PolicyComparison {
    seeds = List.copyOf(seeds);
    measures = List.copyOf(measures);
  }

  /**
   * Runs one replay for each policy and seed; {@code policies} maps a name to its replay by seed.
   */
  <L> Cell<L> compare(L load, Map<String, LongFunction<ReplayResult>> policies)
      throws InterruptedException {
    List<List<Future<ReplayResult>>> runs = new ArrayList<>();
    for (LongFunction<ReplayResult> replay : policies.values()) {
      runs.add(seeds.stream().map(seed -> threads.submit(() -> replay.apply(seed))).toList());
    }
    List<Compared> compared = new ArrayList<>();
    int next = 0;
    for (String policy : policies.keySet()) {
      compared.add(Compared.of(policy, measures, results(runs.get(next++))));
    }
    return new Cell<>(load, compared);
  }

  private static List<ReplayResult> results(List<Future<ReplayResult>> runs)
      throws InterruptedException {
    List<ReplayResult> results = new ArrayList<>();
    try {
      for (Future<ReplayResult> run : runs) {
        results.add(run.get());
      }
      return results;
    } catch (ExecutionException e) {
      Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
      throw new IllegalStateException("a replay failed: " + cause.getMessage(), e);
    }
  }
}
