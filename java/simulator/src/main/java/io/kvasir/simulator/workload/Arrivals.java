package io.kvasir.simulator.workload;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;

/**
 * One run of a workload: who arrives next, depending on what has been answered.
 *
 * <p>Confined to the thread that drives the replay. Times are nanoseconds of virtual time from 0.
 */
public interface Arrivals extends AutoCloseable {

  /** Value of {@link #nextNs()} while nothing will arrive unless something finishes. */
  long NEVER = Long.MAX_VALUE;

  /**
   * When the next request arrives.
   *
   * @return its time, or {@link #NEVER}; at the end of the run for good
   */
  long nextNs();

  /**
   * Takes the request that arrives at {@link #nextNs()}. May wait for its preparation.
   *
   * @return the request
   * @throws java.util.NoSuchElementException if there is none
   */
  HashedRequest next();

  /**
   * A request was answered.
   *
   * @param request the request
   * @param outputTokens its answer
   * @param nowNs when
   */
  void onFinished(Request request, int[] outputTokens, long nowNs);

  /**
   * A request will never be answered.
   *
   * @param request the request
   * @param nowNs when
   */
  void onRejected(Request request, long nowNs);

  @Override
  void close();
}
