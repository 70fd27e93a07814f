package io.kvasir.simulator.compare;

import io.kvasir.simulator.replay.ReplayResult;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
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
 * @param measures the figures to estimate, p95 time to first token among them
 * @param threads run the replays
 * @param store has the replays that need not be run
 */
record PolicyComparison(
    List<Long> seeds, List<Measure> measures, ExecutorService threads, RunStore store) {

  /** Copies the lists. */
  PolicyComparison {
    seeds = List.copyOf(seeds);
    measures = List.copyOf(measures);
  }

  /**
   * Runs one replay for each policy and seed. {@code policies} maps a policy's name to its replay
   * by seed, which must keep first tokens. The store knows a replay by {@code name}, policy and
   * seed.
   */
  <L> Cell<L> compare(L load, String name, Map<String, LongFunction<ReplayResult>> policies)
      throws InterruptedException {
    Map<String, List<Future<Run>>> playing = new LinkedHashMap<>();
    policies.forEach(
        (policy, replay) ->
            playing.put(
                policy,
                seeds.stream()
                    .map(
                        seed ->
                            threads.submit(
                                () -> run(name + " " + policy + " seed " + seed, replay, seed)))
                    .toList()));
    Map<String, List<Run>> runs = new LinkedHashMap<>();
    for (Map.Entry<String, List<Future<Run>>> policy : playing.entrySet()) {
      runs.put(policy.getKey(), results(policy.getValue()));
    }
    return Cell.of(load, measures, runs);
  }

  private Run run(String name, LongFunction<ReplayResult> replay, long seed) {
    return Run.of(
        store.of(name, () -> Run.of(replay.apply(seed), measures).numbers()), measures.size());
  }

  private static List<Run> results(List<Future<Run>> runs) throws InterruptedException {
    List<Run> results = new ArrayList<>();
    try {
      for (Future<Run> run : runs) {
        results.add(run.get());
      }
      return results;
    } catch (ExecutionException e) {
      Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
      if (cause instanceof UncheckedIOException unwritten) {
        throw unwritten;
      }
      throw new IllegalStateException("a replay failed: " + cause.getMessage(), e);
    }
  }
}
