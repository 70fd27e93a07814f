package io.kvasir.simulator.compare;

import io.kvasir.model.Digest64;
import java.util.Arrays;
import java.util.List;

/**
 * A figure of one policy over that of another, for equal arrivals: the geometric mean over the
 * seeds. Of the p95 time to first token, the interval is that in which 95 % of the bootstrap
 * replicates are. A replicate draws seeds, and conversations; the interval is too wide rather than
 * too narrow where seeds have conversations of their own. Of other figures, it is that of Student's
 * t for the seeds; one seed gives none. In a saturated case, the ratio is that of the other
 * policy's capacity to its own.
 *
 * <p>Immutable.
 *
 * @param mean the ratio
 * @param low lower end of the interval; not a number if there is none
 * @param high upper end of the interval; not a number if there is none
 */
public record Ratio(double mean, double low, double high) {

  private static final double TAIL = 0.025;

  static Ratio ofP95(List<Run> ones, List<Run> others, int p95) {
    int seeds = ones.size();
    double sum = 0;
    for (int i = 0; i < seeds; i++) {
      sum += log(ones.get(i).figures().get(p95), others.get(i).figures().get(p95));
    }
    double[] replicates = new double[Bootstrap.REPLICATES];
    for (int replicate = 0; replicate < replicates.length; replicate++) {
      for (int drawn = 0; drawn < seeds; drawn++) {
        long digest = Digest64.fold(Digest64.fold(Digest64.EMPTY, replicate), drawn);
        int seed = (int) Long.remainderUnsigned(digest, seeds);
        replicates[replicate] +=
            log(
                ones.get(seed).p95Replicates().get(replicate),
                others.get(seed).p95Replicates().get(replicate));
      }
    }
    Arrays.sort(replicates);
    int tail = (int) (TAIL * replicates.length);
    return new Ratio(
        Math.exp(sum / seeds),
        Math.exp(replicates[tail] / seeds),
        Math.exp(replicates[replicates.length - 1 - tail] / seeds));
  }

  /** The ratio of paired values, with the interval of Student's t for its logarithm. */
  static Ratio of(double[] ones, double[] others) {
    double[] logs = new double[ones.length];
    Arrays.setAll(logs, i -> log(ones[i], others[i]));
    Estimate log = Estimate.of(logs);
    double halfWidth = log.halfWidth();
    return new Ratio(
        Math.exp(log.mean()), Math.exp(log.mean() - halfWidth), Math.exp(log.mean() + halfWidth));
  }

  private static double log(double one, double other) {
    return Math.log(one / other);
  }
}
