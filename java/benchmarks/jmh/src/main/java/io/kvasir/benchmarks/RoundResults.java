package io.kvasir.benchmarks;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/**
 * Results of several rounds: the median invocation and the allocated bytes of each benchmark and
 * round.
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

  /** Time of an invocation. */
  Spread timeNs(String key) {
    return Spread.of(rounds.get(key).stream().mapToDouble(Measured::medianNs).toArray());
  }

  /** Bytes allocated by an invocation. */
  Spread allocatedBytes(String key) {
    return Spread.of(rounds.get(key).stream().mapToDouble(Measured::allocatedBytes).toArray());
  }

  /** Time of {@code slow} divided by that of {@code fast}, within each round. */
  Spread ratio(String slow, String fast) {
    List<Measured> slowRounds = rounds.get(slow);
    List<Measured> fastRounds = rounds.get(fast);
    double[] ratios = new double[slowRounds.size()];
    for (int round = 0; round < ratios.length; round++) {
      ratios[round] = slowRounds.get(round).medianNs() / fastRounds.get(round).medianNs();
    }
    return Spread.of(ratios);
  }

  /**
   * A quantity over the rounds.
   *
   * @param median the median; for an even number of rounds the upper one
   * @param lowest the lowest
   * @param highest the highest
   */
  record Spread(double median, double lowest, double highest) {

    static Spread of(double[] values) {
      double[] sorted = values.clone();
      Arrays.sort(sorted);
      return new Spread(sorted[sorted.length / 2], sorted[0], sorted[sorted.length - 1]);
    }

    /** Median and range, with this many decimals. */
    String text(int decimals) {
      String number = "%." + decimals + "f";
      return (number + " (" + number + " to " + number + ")").formatted(median, lowest, highest);
    }
  }
}
