package io.kvasir.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/**
 * What several rounds measured: of each benchmark and round, the median invocation and the bytes
 * allocated.
 *
 * <p>Not thread-safe.
 */
final class RoundResults {

  private record Measured(double medianNs, double allocatedBytes) {}

  private final Map<String, List<Measured>> rounds = new TreeMap<>();

  void add(RunResult result) {
    Result<?> allocated = result.getSecondaryResults().get("gc.alloc.rate.norm");
    rounds
        .computeIfAbsent(key(result.getParams()), key -> new ArrayList<>())
        .add(
            new Measured(
                result.getPrimaryResult().getStatistics().getPercentile(50),
                allocated == null ? 0 : allocated.getScore()));
  }

  private static String key(BenchmarkParams params) {
    String name = params.getBenchmark();
    StringBuilder key = new StringBuilder(name.substring("io.kvasir.benchmarks.".length()));
    for (String parameter : params.getParamsKeys()) {
      key.append(' ').append(parameter).append('=').append(params.getParam(parameter));
    }
    return key.toString();
  }

  /** The median over the rounds. */
  double medianNs(String key) {
    return median(rounds.get(key).stream().mapToDouble(Measured::medianNs).toArray());
  }

  /** The median over the rounds. */
  double allocatedBytes(String key) {
    return median(rounds.get(key).stream().mapToDouble(Measured::allocatedBytes).toArray());
  }

  /** How many times longer {@code slow} took than {@code fast}, round by round. */
  Ratio ratio(String slow, String fast) {
    List<Measured> slowRounds = rounds.get(slow);
    List<Measured> fastRounds = rounds.get(fast);
    double[] ratios = new double[slowRounds.size()];
    for (int round = 0; round < ratios.length; round++) {
      ratios[round] = slowRounds.get(round).medianNs() / fastRounds.get(round).medianNs();
    }
    double middle = median(ratios);
    return new Ratio(middle, ratios[0], ratios[ratios.length - 1]);
  }

  /**
   * A ratio over the rounds.
   *
   * @param median the median
   * @param lowest the lowest
   * @param highest the highest
   */
  record Ratio(double median, double lowest, double highest) {
    @Override
    public String toString() {
      return "%.2f (%.2f to %.2f)".formatted(median, lowest, highest);
    }
  }

  /** Sorts the values. */
  private static double median(double[] values) {
    java.util.Arrays.sort(values);
    int middle = values.length / 2;
    return values.length % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }
}
