package io.kvasir.simulator.replay;

import java.util.Arrays;
import java.util.List;

/**
 * How evenly requests were distributed. Ratios are NaN where their denominator is 0.
 *
 * <p>Immutable.
 *
 * @param requests number of requests of each rank or worker
 */
public record Spread(List<Long> requests) {

  /** Copies the list. */
  public Spread {
    requests = List.copyOf(requests);
  }

  static Spread of(long... counts) {
    return new Spread(Arrays.stream(counts).boxed().toList());
  }

  /** {@return the population standard deviation over the mean, at least 0} */
  public double cv() {
    double mean = mean();
    double squares = 0;
    for (long count : requests) {
      squares += (count - mean) * (count - mean);
    }
    return Math.sqrt(squares / requests.size()) / mean;
  }

  /** {@return the maximum divided by the minimum, at least 1; NaN if the minimum is 0} */
  public double maxOverMin() {
    long max = requests.stream().mapToLong(Long::longValue).max().orElse(0);
    return min() == 0 ? Double.NaN : (double) max / min();
  }

  /** {@return the minimum divided by the mean, 0 to 1} */
  public double minOverMean() {
    return min() / mean();
  }

  private long min() {
    return requests.stream().mapToLong(Long::longValue).min().orElse(0);
  }

  private double mean() {
    return (double) requests.stream().mapToLong(Long::longValue).sum() / requests.size();
  }
}
