package io.kvasir.simulator.compare;

import io.kvasir.model.Digest64;
import io.kvasir.simulator.replay.FirstTokens;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The Poisson bootstrap of whole conversations: in each replicate, a conversation counts as often
 * as a Poisson number with mean 1 says. The requests of a conversation are not independent, so they
 * stay together. The numbers depend on replicate and conversation alone, so replicates of two
 * policies are paired, and so are those of all seeds: the conversations of a trace are the same.
 *
 * <p>Stateless.
 */
final class Bootstrap {

  /** Number of replicates. */
  static final int REPLICATES = 400;

  private static final double NS_PER_MS = 1e6;
  private static final double QUANTILE = 0.95;
  private static final double UNIT = 0x1.0p-53;

  /** Cumulative probabilities of 0, 1, 2 and so on occurrences. */
  private static final double[] POISSON = poisson(8);

  private Bootstrap() {}

  private static double[] poisson(int size) {
    double[] cumulative = new double[size];
    double probability = StrictMath.exp(-1);
    double sum = 0;
    for (int i = 0; i < size; i++) {
      probability /= Math.max(1, i);
      sum += probability;
      cumulative[i] = sum;
    }
    return cumulative;
  }

  /** How often a conversation counts in a replicate. */
  static int weight(int replicate, long conversation) {
    long drawn = Digest64.fold(Digest64.fold(conversation, replicate), 0);
    double uniform = (drawn >>> 11) * UNIT;
    int count = 0;
    while (count < POISSON.length && uniform >= POISSON[count]) {
      count++;
    }
    return count;
  }

  /**
   * Replicates of the p95 of a replay, in milliseconds; none if no request got a token.
   * O(replicates x requests).
   */
  static List<Double> p95Ms(FirstTokens firstTokens) {
    int size = firstTokens.size();
    if (size == 0) {
      return List.of();
    }
    int[] slowestFirst =
        IntStream.range(0, size)
            .boxed()
            .sorted((a, b) -> Long.compare(firstTokens.ns(b), firstTokens.ns(a)))
            .mapToInt(i -> i)
            .toArray();
    List<Double> replicates = new ArrayList<>(REPLICATES);
    int[] weights = new int[size];
    for (int replicate = 0; replicate < REPLICATES; replicate++) {
      for (int i = 0; i < size; i++) {
        weights[i] = weight(replicate, firstTokens.conversation(slowestFirst[i]));
      }
      long above = (long) Math.floor((1 - QUANTILE) * Arrays.stream(weights).asLongStream().sum());
      int i = 0;
      while (i < size - 1 && above >= weights[i]) {
        above -= weights[i++];
      }
      replicates.add(firstTokens.ns(slowestFirst[i]) / NS_PER_MS);
    }
    return replicates;
  }
}
