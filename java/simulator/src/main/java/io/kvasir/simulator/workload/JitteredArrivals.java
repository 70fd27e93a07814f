package io.kvasir.simulator.workload;

import io.kvasir.model.Checks;
import io.kvasir.model.Request;
import java.util.Arrays;
import java.util.Map;

/**
 * A sequence whose arrivals are each delayed by a random time. Runs with several seeds show how
 * much of a result is chance. Requests keep their order: the i-th request arrives at the i-th of
 * the new times.
 *
 * <p>Immutable.
 */
public final class JitteredArrivals implements RequestSequence {

  private final RequestSequence sequence;
  private final double seconds;
  private final long seed;
  private final long[] arrivalNs;

  /**
   * Draws the new arrivals.
   *
   * @param sequence the requests
   * @param seconds longest delay of an arrival, in the sequence's own time
   * @param seed seed of the times
   * @throws IllegalArgumentException if {@code seconds} is negative or not finite
   */
  public JitteredArrivals(RequestSequence sequence, double seconds, long seed) {
    Checks.finiteAtLeast0("jitter", seconds);
    this.sequence = sequence;
    this.seconds = seconds;
    this.seed = seed;
    this.arrivalNs = new long[sequence.size()];
    SeededRandom random = SeededRandom.of(Content.ARRIVAL_TIMES.seed(seed, 0), 0);
    for (int i = 0; i < arrivalNs.length; i++) {
      arrivalNs[i] = sequence.arrivalNs(i) + Math.round(random.nextDouble() * seconds * 1e9);
    }
    Arrays.sort(arrivalNs);
  }

  @Override
  public String name() {
    return sequence.name();
  }

  @Override
  public Map<String, Object> parameters() {
    return Parameters.of(
        sequence.parameters(), "jitterSeconds", seconds, "jitterSeed", (Object) seed);
  }

  @Override
  public int size() {
    return sequence.size();
  }

  @Override
  public long arrivalNs(int index) {
    return arrivalNs[index];
  }

  @Override
  public int answeredTokens(int index) {
    return sequence.answeredTokens(index);
  }

  @Override
  public int conversation(int index) {
    return sequence.conversation(index);
  }

  @Override
  public Request request(int index) {
    return sequence.request(index);
  }
}
