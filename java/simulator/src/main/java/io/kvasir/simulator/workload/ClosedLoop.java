package io.kvasir.simulator.workload;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Checks;
import io.kvasir.model.Request;
import java.util.Map;
import java.util.NoSuchElementException;

/**
 * Plays a sequence in order with a fixed number of requests in flight. Timestamps are ignored: a
 * request arrives when an earlier one ends.
 *
 * <p>Immutable.
 *
 * @param sequence the requests
 * @param concurrency requests in flight, at least 1
 */
public record ClosedLoop(RequestSequence sequence, int concurrency) implements Workload {

  /**
   * Checks the concurrency.
   *
   * @throws IllegalArgumentException if it is below 1
   */
  public ClosedLoop {
    Checks.atLeast("concurrency", concurrency, 1);
  }

  @Override
  public String name() {
    return sequence.name();
  }

  @Override
  public Map<String, Object> parameters() {
    return Parameters.of(sequence.parameters(), "concurrency", concurrency);
  }

  @Override
  public long plannedRequests() {
    return sequence.size();
  }

  @Override
  public Arrivals start(RequestPreparation preparation) {
    return new Run(sequence.size(), concurrency, new PreparedRequests(sequence, preparation));
  }

  private static final class Run implements Arrivals {
    private final int size;
    private final PreparedRequests prepared;
    private int next;
    private int freePlaces;
    private long freeSinceNs;

    Run(int size, int concurrency, PreparedRequests prepared) {
      this.size = size;
      this.freePlaces = concurrency;
      this.prepared = prepared;
    }

    @Override
    public long nextNs() {
      return next == size || freePlaces == 0 ? NEVER : freeSinceNs;
    }

    @Override
    public HashedRequest next() {
      if (nextNs() == NEVER) {
        throw new NoSuchElementException("no request may arrive now, or the sequence has ended");
      }
      next++;
      freePlaces--;
      return prepared.take();
    }

    @Override
    public void onFinished(Request request, int[] outputTokens, long nowNs) {
      free(nowNs);
    }

    @Override
    public void onRejected(Request request, long nowNs) {
      free(nowNs);
    }

    private void free(long nowNs) {
      freePlaces++;
      freeSinceNs = nowNs;
    }

    @Override
    public void close() {
      prepared.close();
    }
  }
}
