package io.kvasir.gateway.route;

import io.kvasir.model.Digest64;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/**
 * Limits which part of the requests may go to workers of little weight: those to which an operator
 * has given less than others, and those whose engine has just begun (Envoy's slow start). Such a
 * worker may serve at most the share that its weight has in the sum of all weights; which of these
 * requests it gets is the router's choice. A conversation may go to it, or may not, as a whole, and
 * with more weight only more of them may.
 *
 * <p>Immutable.
 */
public final class Shares {

  /** The part of its weight that a worker begins with. */
  private static final double FIRST = 0.1;

  /** Weights that are less apart from the highest one are taken as equal to it. */
  private static final double CLOSE = 0.95;

  private static final double UNIT = 0x1.0p-53;

  private final long slowStartNs;

  /**
   * Creates the limits.
   *
   * @param slowStartNs time after which a worker that has begun has its full weight; 0 for none
   */
  public Shares(long slowStartNs) {
    this.slowStartNs = slowStartNs;
  }

  /**
   * The workers that a request must not go to. O(workers).
   *
   * @param workers those that could serve it
   * @param key the request's conversation, or the request
   * @param nowNs the current time, in nanoseconds
   * @return some of them, never all
   */
  public Set<FleetWorker> excluded(Collection<FleetWorker> workers, String key, long nowNs) {
    double highest = 0;
    double sum = 0;
    for (FleetWorker worker : workers) {
      double weight = weight(worker, nowNs);
      highest = Math.max(highest, weight);
      sum += weight;
    }
    Set<FleetWorker> excluded = new HashSet<>();
    for (FleetWorker worker : workers) {
      double weight = weight(worker, nowNs);
      if (weight < CLOSE * highest && drawn(key, worker) >= weight / sum) {
        excluded.add(worker);
      }
    }
    return excluded;
  }

  /**
   * Whether some of the workers have less weight than others. O(workers).
   *
   * @param workers the workers
   * @param nowNs the current time, in nanoseconds
   * @return false if no request is kept from any of them
   */
  public boolean differ(Collection<FleetWorker> workers, long nowNs) {
    double highest = 0;
    double lowest = Double.POSITIVE_INFINITY;
    for (FleetWorker worker : workers) {
      double weight = weight(worker, nowNs);
      highest = Math.max(highest, weight);
      lowest = Math.min(lowest, weight);
    }
    return lowest < CLOSE * highest;
  }

  private double weight(FleetWorker worker, long nowNs) {
    double weight = worker.membership().weight();
    long age = Math.max(0, nowNs - worker.membership().begunNs());
    return age >= slowStartNs ? weight : weight * Math.max(FIRST, (double) age / slowStartNs);
  }

  /** A number from 0 to 1 that request and worker decide. */
  private static double drawn(String key, FleetWorker worker) {
    long digest = Digest64.fold(Digest64.EMPTY, worker.name().hashCode());
    for (int i = 0; i < key.length(); i++) {
      digest = Digest64.fold(digest, key.charAt(i));
    }
    return (Digest64.fold(digest, 0) >>> 11) * UNIT;
  }
}
