package io.kvasir.simulator.compare;

import io.kvasir.simulator.replay.FirstTokens;
import io.kvasir.simulator.replay.ReplayResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * What a comparison keeps of one replay.
 *
 * <p>Immutable.
 *
 * @param figures the requested figures, in the order of the request
 * @param p95Replicates bootstrap replicates of the p95 time to first token in milliseconds; equal
 *     indexes are of the same conversations; empty if no request got a token
 */
record Run(List<Double> figures, List<Double> p95Replicates) {

  /** Copies the lists. */
  Run {
    figures = List.copyOf(figures);
    p95Replicates = List.copyOf(p95Replicates);
  }

  static Run of(ReplayResult result, List<Measure> measures) {
    FirstTokens firstTokens = Objects.requireNonNull(result.firstTokens(), "not kept");
    return new Run(
        measures.stream().map(measure -> measure.of(result)).toList(),
        Bootstrap.p95Ms(firstTokens));
  }

  /** The run as numbers, from which {@link #of(List, int)} makes it again. */
  List<Double> numbers() {
    List<Double> numbers = new ArrayList<>(figures);
    numbers.addAll(p95Replicates);
    return numbers;
  }

  static Run of(List<Double> numbers, int figures) {
    return new Run(numbers.subList(0, figures), numbers.subList(figures, numbers.size()));
  }
}
