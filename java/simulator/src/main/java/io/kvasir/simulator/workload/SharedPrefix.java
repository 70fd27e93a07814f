package io.kvasir.simulator.workload;

import io.kvasir.model.Request;
import io.kvasir.simulator.trace.TokenExpansion;
import java.util.Arrays;
import java.util.Map;

/**
 * Requests that start with one of several shared prefixes, chosen by popularity, followed by unique
 * tokens. Without prefixes it is the uniform workload, in which no prompts share a prefix.
 *
 * <p>Immutable.
 */
public final class SharedPrefix implements RequestSequence {

  private final Shape shape;
  private final long[] arrivalNs;
  private final double[] cumulativeShare;

  /**
   * Parameters of the workload.
   *
   * <p>Immutable.
   *
   * @param requests number of requests, at least 1
   * @param prefixes number of shared prefixes, at least 0
   * @param prefixTokens length of each prefix, at least 1 if there are any
   * @param skew Zipf exponent of the prefixes' popularity, at least 0; 0 makes them equally popular
   * @param ownTokens length of the rest of a prompt
   * @param outputTokens length of an answer
   * @param perSecond mean arrivals per second in an open loop
   * @param seed seed of all random values
   */
  public record Shape(
      int requests,
      int prefixes,
      int prefixTokens,
      double skew,
      LognormalTokens ownTokens,
      IntRange outputTokens,
      double perSecond,
      long seed) {}

  /**
   * Creates the workload.
   *
   * @param shape its parameters
   */
  public SharedPrefix(Shape shape) {
    this.shape = shape;
    this.arrivalNs =
        PoissonTimes.draw(
            shape.requests(), shape.perSecond(), Content.ARRIVAL_TIMES.seed(shape.seed(), 0));
    this.cumulativeShare = cumulativeShares(shape.prefixes(), shape.skew());
  }

  private static double[] cumulativeShares(int prefixes, double skew) {
    double[] cumulative = new double[prefixes];
    double sum = 0;
    for (int prefix = 0; prefix < prefixes; prefix++) {
      sum += StrictMath.pow(prefix + 1, -skew);
      cumulative[prefix] = sum;
    }
    for (int prefix = 0; prefix < prefixes; prefix++) {
      cumulative[prefix] /= sum;
    }
    return cumulative;
  }

  @Override
  public String name() {
    return shape.prefixes() == 0 ? "uniform" : "shared_prefix";
  }

  @Override
  public Map<String, Object> parameters() {
    Map<String, Object> parameters = Map.of();
    if (shape.prefixes() > 0) {
      parameters =
          Parameters.of(
              parameters,
              "prefixes",
              shape.prefixes(),
              "prefixTokens",
              shape.prefixTokens(),
              "prefixSkew",
              shape.skew());
    }
    if (shape.perSecond() > 0) {
      parameters = Parameters.of(parameters, "rate", shape.perSecond());
    }
    return Parameters.of(
        parameters,
        "userTokens",
        shape.ownTokens().median(),
        "userTokensSigma",
        shape.ownTokens().sigma(),
        "outputTokens",
        shape.outputTokens().toString());
  }

  @Override
  public int size() {
    return shape.requests();
  }

  @Override
  public long arrivalNs(int index) {
    return arrivalNs[index];
  }

  @Override
  public Request request(int index) {
    SeededRandom random = SeededRandom.of(shape.seed(), index);
    int prefixTokens = 0;
    long prefix = 0;
    if (shape.prefixes() > 0) {
      prefixTokens = shape.prefixTokens();
      prefix = choose(random.nextDouble());
    }
    int[] tokens = new int[prefixTokens + shape.ownTokens().draw(random)];
    TokenExpansion.fill(Content.PREFIX.seed(shape.seed(), prefix), tokens, 0, prefixTokens);
    TokenExpansion.fill(
        Content.UNIQUE.seed(shape.seed(), index), tokens, prefixTokens, tokens.length);
    return Request.builder(index, tokens)
        .maxNewTokens(random.nextInt(shape.outputTokens()))
        .build();
  }

  private int choose(double uniform) {
    int found = Arrays.binarySearch(cumulativeShare, uniform);
    return Math.min(found < 0 ? -found - 1 : found + 1, cumulativeShare.length - 1);
  }
}
