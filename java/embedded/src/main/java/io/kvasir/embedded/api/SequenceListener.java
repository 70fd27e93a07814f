package io.kvasir.embedded.api;

import io.kvasir.exchange.UpstreamFailure;
import java.util.concurrent.Executor;

/** Receives the events of the sequences of one request, on the request's event loop. */
public interface SequenceListener {

  /** The event loop. Any thread. */
  Executor loop();

  /**
   * A sequence runs on a rank for the first time.
   *
   * @param choice the sequence's number within its request
   * @param start where it runs
   */
  void onStarted(int choice, Start start);

  /** A sequence has its next token. */
  void onToken(int choice);

  /** A sequence has all its tokens. */
  void onFinished(int choice);

  /** The request fails; no event follows. */
  void onFailed(ApiError error);

  /** The engine ends; no event follows. */
  void onAborted(UpstreamFailure failure);

  /** All events of one iteration were received. */
  void flush();

  /**
   * Where a sequence runs.
   *
   * @param rank the rank
   * @param matchedTokens prompt tokens that were in the rank's pool
   * @param reason the ADP router's reason
   */
  record Start(int rank, int matchedTokens, String reason) {}
}
