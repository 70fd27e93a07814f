package io.kvasir.engine.execute;

import io.kvasir.engine.adp.Decision;
import io.kvasir.model.Request;

/**
 * Hears what becomes of requests. Called on the thread that drives the loop, in a defined order;
 * times are the loop's, in nanoseconds.
 */
public interface RequestListener {

  /**
   * The router placed a request on a rank.
   *
   * @param decision who, where and why
   * @param nowNs the iteration's start
   */
  default void onPlaced(Decision decision, long nowNs) {}

  /**
   * A request got its first blocks (again, after a pause) and starts to run.
   *
   * @param request the request
   * @param rank where
   * @param cachedTokens prompt tokens that it found computed
   * @param resumed whether it was paused before
   * @param nowNs the iteration's start
   */
  default void onStarted(
      Request request, int rank, int cachedTokens, boolean resumed, long nowNs) {}

  /**
   * A request produced a token. On context ranks there is one; it is told again, with index 0, if
   * the rank is lost before the request's KV is sent.
   *
   * @param request the request
   * @param rank where
   * @param index which output token, from 0
   * @param token the token
   * @param nowNs the iteration's end
   */
  default void onToken(Request request, int rank, int index, int token, long nowNs) {}

  /**
   * A request lost its blocks to others and waits to be computed again.
   *
   * @param request the request
   * @param rank where
   * @param nowNs the iteration's start
   */
  default void onPaused(Request request, int rank, long nowNs) {}

  /**
   * A request is done. On context ranks that is when its KV has been sent.
   *
   * @param request the request
   * @param rank where
   * @param outputTokens its output, a copy
   * @param nowNs the iteration's end, or that of the transfer
   */
  default void onFinished(Request request, int rank, int[] outputTokens, long nowNs) {}

  /**
   * A request can never be served.
   *
   * @param request the request
   * @param reason why, a sentence with the numbers that matter
   * @param nowNs the iteration's start
   */
  default void onRejected(Request request, String reason, long nowNs) {}

  /**
   * A request's rank was lost and gave it back; it stands in front of the waiting queue again.
   *
   * <p>What was told of it holds. It is placed again ({@link #onPlaced}), started again ({@link
   * #onStarted}, resumed if it had started before) and goes on with the output token after the last
   * one told; prompt and output so far are computed again first. A request of a context rank starts
   * anew. A request that insists on the lost rank is rejected instead.
   *
   * @param request the request
   * @param rank the rank that it was on
   * @param reason why the rank is retired
   * @param nowNs when the loop learned of it
   */
  default void onReturned(Request request, int rank, String reason, long nowNs) {}

  /**
   * A rank was retired, after its requests were given back. It gets no more requests.
   *
   * @param rank the rank
   * @param reason why: what the device said, or whoever asked for it
   * @param nowNs when the loop learned of it
   */
  default void onRankRetired(int rank, String reason, long nowNs) {}

  /**
   * A request was cancelled by its caller.
   *
   * @param request the request
   * @param nowNs when the loop acted on it
   */
  default void onCancelled(Request request, long nowNs) {}
}
