package io.kvasir.engine.execute;

import io.kvasir.engine.adp.Decision;
import io.kvasir.model.Request;

/**
 * Receives the events of requests. Called on the thread that drives the loop, in a defined order.
 * Times are the loop's, in nanoseconds.
 */
public interface RequestListener {

  /**
   * The router placed a request on a rank.
   *
   * @param decision the request, the rank and the reason
   * @param nowNs the iteration's start
   */
  default void onPlaced(Decision decision, long nowNs) {}

  /**
   * A request got its first blocks and starts to run, or resumes after a pause.
   *
   * @param request the request
   * @param rank its rank
   * @param cachedTokens prompt tokens that were matched and need not be computed
   * @param resumed whether it was paused before
   * @param nowNs the iteration's start
   */
  default void onStarted(
      Request request, int rank, int cachedTokens, boolean resumed, long nowNs) {}

  /**
   * A request produced a token. On context ranks there is only one. It is reported again, with
   * index 0, if the rank is retired before the request's KV is sent.
   *
   * @param request the request
   * @param rank its rank
   * @param index the index of the output token, from 0
   * @param token the token
   * @param nowNs the iteration's end
   */
  default void onToken(Request request, int rank, int index, int token, long nowNs) {}

  /**
   * Full blocks of a request were computed and are committed next. The pool names those that it
   * does not have yet. Only in the process that has the rank.
   *
   * @param request the request
   * @param rank its rank
   * @param tokens the request's tokens from the first, prompt and output; full blocks of it do not
   *     change any more
   * @param sequenceHashes sequence hashes of its full blocks; likewise
   * @param fromBlock the first of the blocks
   * @param toBlock their end, exclusive
   */
  default void onCommitted(
      Request request, int rank, int[] tokens, long[] sequenceHashes, int fromBlock, int toBlock) {}

  /**
   * A request was paused: its blocks went to other requests, and it waits to be recomputed.
   *
   * @param request the request
   * @param rank its rank
   * @param nowNs the iteration's start
   */
  default void onPaused(Request request, int rank, long nowNs) {}

  /**
   * A request is done. On context ranks that is when its KV has been sent.
   *
   * @param request the request
   * @param rank its rank
   * @param outputTokens its output, a copy
   * @param nowNs the iteration's end, or that of the transfer
   */
  default void onFinished(Request request, int rank, int[] outputTokens, long nowNs) {}

  /**
   * A request can never be served.
   *
   * @param request the request
   * @param reason the reason, with the relevant numbers
   * @param nowNs the iteration's start
   */
  default void onRejected(Request request, String reason, long nowNs) {}

  /**
   * A request's rank was retired; the request is at the front of the waiting queue again.
   *
   * <p>Events reported earlier stay valid. The request is placed again ({@link #onPlaced}) and
   * started again ({@link #onStarted}, resumed if it had started before). It continues with the
   * output token after the last one reported; prompt and output so far are recomputed first. A
   * request of a context rank starts from its prompt again. A request that strictly targets the
   * retired rank is rejected instead.
   *
   * @param request the request
   * @param rank the retired rank
   * @param reason why the rank is retired
   * @param nowNs when the loop retired the rank
   */
  default void onReturned(Request request, int rank, String reason, long nowNs) {}

  /**
   * A rank was retired, and its requests have returned to the queue. It gets no more requests.
   *
   * @param rank the rank
   * @param reason the device's error, or the reason given to {@link AdpLoop#retire}
   * @param nowNs when the loop retired the rank
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
