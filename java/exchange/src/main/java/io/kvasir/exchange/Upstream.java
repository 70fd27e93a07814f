package io.kvasir.exchange;

import java.util.concurrent.Executor;

/**
 * Answers requests: an engine behind HTTP, or ranks in this process. Thread-safe.
 *
 * <p>Closing it aborts the requests in flight.
 */
public interface Upstream extends AutoCloseable {

  /**
   * Sends a request. Never blocks.
   *
   * @param request the request
   * @param reply receives the reply; all its calls run on {@code loop}, none within this call
   * @param loop the event loop of the caller, which is the current thread
   * @return the request in flight
   */
  UpstreamCall send(UpstreamRequest request, ReplyListener reply, Executor loop);

  @Override
  void close();
}
