package io.kvasir.engine.execute;

import io.kvasir.model.Request;
import java.util.List;

/**
 * A rank as the loop of its worker sees it, wherever it lives: the requests that it holds, not how
 * they are served.
 *
 * <p>Confined to the loop's thread.
 */
abstract class WorkerRank {

  /** Its index in the worker. */
  abstract int rank();

  /** Requests that it holds, with their children; without those that are being sent. */
  abstract int activeRequests();

  /** Whether a step would have anything to do. */
  abstract boolean hasWork();

  /** Whether it holds a request, also while that is being sent. */
  abstract boolean holds(long requestId);

  /** Why it can never serve a request, or null. */
  abstract String unservable(Request request);

  /** Leading tokens of a request's prompt that those it holds compute; 0 if it lives elsewhere. */
  abstract int pendingTokens(PlacedRequest candidate);

  /** Takes a request over that may have run on another rank; it goes on with what it has got. */
  abstract void accept(PlacedRequest placed);

  /** Takes a request out at whatever stage it is; null if it is not here. */
  abstract PlacedRequest take(long requestId);

  /** Takes everything out of a rank that is lost, in order of arrival. */
  abstract List<PlacedRequest> retire();

  /** The step ended at this time: what it computed to the end is being sent from now on. */
  abstract void startTransfers(long nowNs);

  /** When the next transfer ends, or {@link SendingRequests#NEVER}. */
  abstract long nextTransferEndNs();

  /** Takes out the request whose transfer ends first; {@link #releaseSent} must follow. */
  abstract PlacedRequest endTransfer();

  /** Gives the blocks of all requests back that were taken out as sent. */
  abstract void releaseSent();
}
