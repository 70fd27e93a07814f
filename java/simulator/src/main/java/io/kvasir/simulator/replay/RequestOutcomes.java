package io.kvasir.simulator.replay;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.model.Request;

/**
 * Receives what becomes of the requests of a worker.
 *
 * <p>Confined to the thread that drives the replay.
 */
interface RequestOutcomes {

  /** An ADP router has placed a request. */
  void onPlaced(AdpReason reason);

  /** A request started for the first time; true if the worker computes its prompt. */
  boolean onStarted(Request request, long nowNs);

  /** A token is computed at a time, which may be later than now. */
  void onToken(Request request, int index, long nowNs);

  void onFinished(Request request, int[] answer, long nowNs);

  void onRejected(Request request, String reason, long nowNs);
}
