package io.kvasir.simulator.workload;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.Map;
import java.util.NoSuchElementException;

/**
 * Plays a sequence by its timestamps, whether or not earlier requests have been answered.
 *
 * <p>Immutable.
 *
 * @param sequence the requests
 * @param speed factor by which it is played faster than its timestamps, above 0
 */
public record OpenLoop(RequestSequence sequence, double speed) implements Workload {

  /**
   * Checks the speed.
   *
   * @throws IllegalArgumentException if it is not above 0
   */
  public OpenLoop {
    if (!(speed > 0)) {
      throw new IllegalArgumentException("speed must be above 0, not " + speed);
    }
  }

  @Override
  public String name() {
    return sequence.name();
  }

  @Override
  public Map<String, Object> parameters() {
    return Parameters.of(sequence.parameters(), "speed", speed);
  }

  @Override
  public long plannedRequests() {
    return sequence.size();
  }

  @Override
  public Arrivals start(RequestPreparation preparation) {
    return new Run(sequence, speed, new PreparedRequests(sequence, preparation));
  }

  private static final class Run implements Arrivals {
    private final RequestSequence sequence;
    private final double speed;
    private final PreparedRequests prepared;
    private int next;

    Run(RequestSequence sequence, double speed, PreparedRequests prepared) {
      this.sequence = sequence;
      this.speed = speed;
      this.prepared = prepared;
    }

    @Override
    public long nextNs() {
      return next == sequence.size() ? NEVER : Math.round(sequence.arrivalNs(next) / speed);
    }

    @Override
    public HashedRequest next() {
      if (next == sequence.size()) {
        throw new NoSuchElementException("the sequence has ended");
      }
      next++;
      return prepared.take();
    }

    @Override
    public void onFinished(Request request, int[] outputTokens, long nowNs) {
      // The timestamps alone determine the next arrival.
    }

    @Override
    public void onRejected(Request request, long nowNs) {
      // The timestamps alone determine the next arrival.
    }

    @Override
    public void close() {
      prepared.close();
    }
  }
}
