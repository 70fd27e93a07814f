package io.kvasir.simulator.compare;

import io.kvasir.simulator.fleet.FleetRouterFailure;
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
import java.util.function.LongToDoubleFunction;

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
   * by seed, which must keep first tokens. The store keeps a replay by {@code name}, policy and
   * seed.
   */
  <L> Cell<L> compare(L load, String name, Map<String, LongFunction<ReplayResult>> policies)
      throws InterruptedException {
    return Cell.of(
        load,
        measures,
        each(policies, (policy, replay, seed) -> run(runName(name, policy, seed), replay, seed)));
  }

  /** Finds one figure of each policy for each seed. The store keeps it by the same names. */
  Map<String, double[]> figures(String name, Map<String, LongToDoubleFunction> policies)
      throws InterruptedException {
    Map<String, List<Double>> found =
        each(
            policies,
            (policy, figure, seed) ->
                store
                    .of(runName(name, policy, seed), () -> List.of(figure.applyAsDouble(seed)))
                    .get(0));
    Map<String, double[]> figures = new LinkedHashMap<>();
    found.forEach(
        (policy, values) ->
            figures.put(policy, values.stream().mapToDouble(Double::doubleValue).toArray()));
    return figures;
  }

  private static String runName(String name, String policy, long seed) {
    return name + " " + policy + " seed " + seed;
  }

  /** What is found by one policy with one seed. */
  @FunctionalInterface
  private interface Task<P, R> {
    R run(String policy, P player, long seed);
  }

  /** Runs a task for each policy and seed. */
  private <P, R> Map<String, List<R>> each(Map<String, P> policies, Task<P, R> task)
      throws InterruptedException {
    Map<String, List<Future<R>>> playing = new LinkedHashMap<>();
    policies.forEach(
        (policy, player) ->
            playing.put(
                policy,
                seeds.stream()
                    .map(seed -> threads.submit(() -> task.run(policy, player, seed)))
                    .toList()));
    Map<String, List<R>> results = new LinkedHashMap<>();
    for (Map.Entry<String, List<Future<R>>> policy : playing.entrySet()) {
      results.put(policy.getKey(), results(policy.getValue()));
    }
    return results;
  }

  private Run run(String name, LongFunction<ReplayResult> replay, long seed) {
    return Run.of(
        store.of(name, () -> Run.of(replay.apply(seed), measures).numbers()), measures.size());
  }

  private static <R> List<R> results(List<Future<R>> runs) throws InterruptedException {
    List<R> results = new ArrayList<>();
    try {
      for (Future<R> run : runs) {
        results.add(run.get());
      }
      return results;
    } catch (ExecutionException e) {
      Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
      if (cause instanceof UncheckedIOException unwritten) {
        throw unwritten;
      }
      if (cause instanceof FleetRouterFailure failure) {
        throw failure;
      }
      throw new IllegalStateException("a replay failed: " + cause.getMessage(), e);
    }
  }
}
