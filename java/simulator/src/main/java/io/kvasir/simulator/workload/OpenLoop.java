package io.kvasir.simulator.workload;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import java.util.Map;
import java.util.NoSuchElementException;

/**
 * Plays a sequence by its timestamps, whether or not earlier requests have been answered; or, if
 * turns wait, no request of a conversation before the answer to the one before it: what a slow
 * engine would delay of a recorded day is delayed in the replay too.
 *
 * <p>Immutable.
 *
 * @param sequence the requests
 * @param speed factor by which it is played faster than its timestamps, above 0
 * @param turnsWait whether turns wait
 */
public record OpenLoop(RequestSequence sequence, double speed, boolean turnsWait)
    implements Workload {

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

  /**
   * Plays a sequence by its timestamps alone.
   *
   * @param sequence the requests
   * @param speed factor by which it is played faster than its timestamps, above 0
   */
  public OpenLoop(RequestSequence sequence, double speed) {
    this(sequence, speed, false);
  }

  @Override
  public String name() {
    return sequence.name();
  }

  @Override
  public Map<String, Object> parameters() {
    Map<String, Object> parameters = Parameters.of(sequence.parameters(), "speed", speed);
    return turnsWait ? Parameters.of(parameters, "turnsWait", true) : parameters;
  }

  @Override
  public long plannedRequests() {
    return sequence.size();
  }

  @Override
  public Arrivals start(RequestPreparation preparation) {
    PreparedRequests prepared = new PreparedRequests(sequence, preparation);
    return turnsWait
        ? new WaitingTurns(sequence, speed, prepared)
        : new Run(sequence, speed, prepared);
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
