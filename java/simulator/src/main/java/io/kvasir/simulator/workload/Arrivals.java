package io.kvasir.simulator.workload;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;

/**
 * One run of a workload: the arrivals of its requests, which may depend on earlier answers.
 *
 * <p>Confined to the thread that drives the replay. Times are nanoseconds of virtual time from 0.
 */
public interface Arrivals extends AutoCloseable {

  /** Value of {@link #nextNs()} while no request arrives until another one finishes. */
  long NEVER = Long.MAX_VALUE;

  /**
   * {@return the time at which the next request arrives, or {@link #NEVER}, which is final at the
   * end of the run}
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
   * Reports that a request was answered.
   *
   * @param request the request
   * @param outputTokens its answer
   * @param nowNs the current time
   */
  void onFinished(Request request, int[] outputTokens, long nowNs);

  /**
   * Reports that a request was rejected and will never be answered.
   *
   * @param request the request
   * @param nowNs the current time
   */
  void onRejected(Request request, long nowNs);

  /** Ends the run and stops any preparation of requests. */
  @Override
  void close();
}
