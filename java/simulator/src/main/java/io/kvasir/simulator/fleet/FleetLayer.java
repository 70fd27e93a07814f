package io.kvasir.simulator.fleet;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.simulator.workload.Arrivals;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** Chooses a worker for each request (port). Confined to the thread that drives the replay. */
public interface FleetLayer extends AutoCloseable {

  /** The layer above a single worker: no choice to make. */
  FleetLayer NONE =
      new FleetLayer() {
        @Override
        public int workers() {
          return 1;
        }

        @Override
        public boolean followsBlocks() {
          return false;
        }

        @Override
        public Routed route(HashedRequest request, long nowNs) {
          return new Routed(0, request);
        }

        @Override
        public List<Outcome> outcomes(long nowNs) {
          return List.of();
        }

        @Override
        public long nextNs() {
          return Arrivals.NEVER;
        }

        @Override
        public void onToken(Request request, int index, long atNs) {}

        @Override
        public void onEnded(Request request, boolean success, long atNs) {}

        @Override
        public void onIterated(int worker, IteratedWorker ran, long endNs) {}

        @Override
        public @Nullable FleetResult result() {
          return null;
        }

        @Override
        public void close() {}
      };

  /**
   * A request's worker, and the request as that worker receives it.
   *
   * @param worker the worker's index
   * @param request the request
   */
  record Routed(int worker, HashedRequest request) {}

  /** {@return the number of workers, at least 1} */
  int workers();

  /** {@return whether the layer reads the workers' block events; true if pools must record them} */
  boolean followsBlocks();

  /**
   * What became of a request that could not be placed when it arrived.
   *
   * @param request the request
   * @param routed its worker; null if it was refused
   * @param reason why it was refused; empty if it was not
   */
  record Outcome(Request request, @Nullable Routed routed, String reason) {}

  /**
   * Chooses a worker.
   *
   * @param request the request
   * @param nowNs the time
   * @return the worker; null if the request waits or was refused, which {@link #outcomes} reports
   */
  @Nullable Routed route(HashedRequest request, long nowNs);

  /**
   * What has become of requests that could not be placed when they arrived.
   *
   * @param nowNs the time
   * @return the outcomes since the last call
   */
  List<Outcome> outcomes(long nowNs);

  /** {@return when a request that waits may be placed, or {@link Arrivals#NEVER} if none waits} */
  long nextNs();

  /**
   * Records an output token, possibly before its virtual time.
   *
   * @param request its request
   * @param index the token's position in the answer, from 0
   * @param atNs the token's time
   */
  void onToken(Request request, int index, long atNs);

  /**
   * Records that a request was answered or rejected, at the current time or before.
   *
   * @param request the request
   * @param success whether it was answered
   * @param atNs the time of its end
   */
  void onEnded(Request request, boolean success, long atNs);

  /**
   * Records an iteration before it ends.
   *
   * @param worker the worker's index
   * @param ran the worker
   * @param endNs when the iteration ends
   */
  void onIterated(int worker, IteratedWorker ran, long endNs);

  /**
   * Reports the workers that have got something to do since the last call without a request.
   *
   * @param changed receives their indices
   */
  default void changed(IntConsumer changed) {}

  /** {@return the counts of the layer's decisions; null for a single worker} */
  @Nullable FleetResult result();

  /** {@return what became of requests of two legs; null if all requests are served whole} */
  default @Nullable ApartResult apart() {
    return null;
  }

  @Override
  void close();
}
