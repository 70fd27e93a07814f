package io.kvasir.engine.execute;

import io.kvasir.model.Request;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The loop's view of a rank, in this process or another: its requests, but not how they are served.
 *
 * <p>Confined to the loop's thread.
 */
abstract class WorkerRank {

  /** Its index in the worker. */
  abstract int rank();

  /** Requests on the rank, with their children; without those in transfer. */
  abstract int activeRequests();

  /** Whether the rank has work for a step. */
  abstract boolean hasWork();

  /** Whether a request is on this rank, including those in transfer. */
  abstract boolean holds(long requestId);

  /** Why the rank can never serve a request, or null. */
  abstract @Nullable String unservable(Request request);

  /**
   * Leading prompt tokens of a request that the rank's other requests compute; 0 for a rank of
   * another process.
   */
  abstract int pendingTokens(PlacedRequest candidate);

  /** Accepts a request, which continues with its outputs if it has run on another rank. */
  abstract void accept(PlacedRequest placed);

  /** Removes a request at any stage; null if it is not here. */
  abstract @Nullable PlacedRequest take(long requestId);

  /** Retires the rank; returns its requests in arrival order. */
  abstract List<PlacedRequest> retire();

  /** Starts the transfers of requests that the step ending at {@code nowNs} finished. */
  abstract void startTransfers(long nowNs);

  /** The end of the next transfer, or {@link SendingRequests#NEVER}. */
  abstract long nextTransferEndNs();

  /** Removes the request whose transfer ends first; {@link #releaseSent} must follow. */
  abstract PlacedRequest endTransfer();

  /** Releases the blocks of all requests that {@link #endTransfer} removed. */
  abstract void releaseSent();
}
