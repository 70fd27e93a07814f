package io.kvasir.engine.execute;

import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ranks of a worker, the set of live ones, and the retirement of ranks.
 *
 * <p>The requests of a retired rank return to the queue. Neither its pool nor its engine is called
 * again. Retirement is permanent.
 *
 * <p>Confined to the loop's thread.
 */
final class LiveRanks {

  private static final Logger LOG = LoggerFactory.getLogger(LiveRanks.class);

  private final WorkerRank[] all;
  private final IntConsumer onRetired;
  private final WaitingRequests waiting;
  private final RequestListener listener;
  private final int maxActiveRequests;

  /**
   * The live ranks in rank order. The array is replaced, never modified, so callers may retire
   * ranks while iterating over it.
   */
  private WorkerRank[] live;

  /** By rank: why it is retired; null if it is live. */
  private final String[] retiredFor;

  /** By rank: why its retirement was requested; null if it was not. */
  private final String[] pendingReasons;

  private boolean anyPending;

  /** Whether the queue may have a request that the live ranks can never take. */
  private boolean anyStranded;

  /**
   * {@code onRetired} is called with each retired rank; prompts must not be looked up there any
   * more.
   */
  LiveRanks(
      List<? extends WorkerRank> ranks,
      int maxActiveRequests,
      IntConsumer onRetired,
      WaitingRequests waiting,
      RequestListener listener) {
    this.all = ranks.toArray(WorkerRank[]::new);
    this.live = all;
    this.onRetired = onRetired;
    this.waiting = waiting;
    this.listener = listener;
    this.maxActiveRequests = maxActiveRequests;
    this.retiredFor = new String[all.length];
    this.pendingReasons = new String[all.length];
  }

  /** Number of ranks of the worker, live or retired. */
  int count() {
    return all.length;
  }

  /** The live ranks; read-only. The array does not change when ranks retire. */
  WorkerRank[] live() {
    return live;
  }

  WorkerRank rank(int rank) {
    return all[rank];
  }

  /** Requests on the live ranks. */
  int activeRequests() {
    int total = 0;
    for (WorkerRank executor : live) {
      total += executor.activeRequests();
    }
    return total;
  }

  /** Most requests that the live ranks may hold together. */
  long capacity() {
    return (long) live.length * maxActiveRequests;
  }

  boolean holds(long requestId) {
    for (WorkerRank executor : live) {
      if (executor.holds(requestId)) {
        return true;
      }
    }
    return false;
  }

  boolean isLive(int rank) {
    return retiredFor[Objects.checkIndex(rank, all.length)] == null;
  }

  /**
   * Requests that {@link #retireRequested} retire a rank; false if the rank is retired or its
   * retirement is pending.
   */
  boolean requestRetirement(int rank, String reason) {
    Objects.requireNonNull(reason, "reason");
    if (!isLive(rank) || pendingReasons[rank] != null) {
      return false;
    }
    pendingReasons[rank] = reason;
    anyPending = true;
    return true;
  }

  void retireRequested(long nowNs) {
    if (anyPending) {
      anyPending = false;
      for (WorkerRank executor : live) {
        String reason = pendingReasons[executor.rank()];
        if (reason != null) {
          retire(executor, reason, nowNs);
        }
      }
    }
  }

  /** Why a rank's retirement was requested, or null. */
  @Nullable String pendingReason(int rank) {
    return pendingReasons[rank];
  }

  void retire(WorkerRank executor, RuntimeException cause, long nowNs) {
    retire(executor, reason(cause), nowNs);
  }

  static String reason(RuntimeException cause) {
    String message = cause.getMessage();
    return cause instanceof FatalDeviceException && message != null ? message : cause.toString();
  }

  /** Retires a rank. The state is consistent before the listener is called. */
  void retire(WorkerRank executor, String reason, long nowNs) {
    int rank = executor.rank();
    retiredFor[rank] = reason;
    live = Arrays.stream(live).filter(other -> other != executor).toArray(WorkerRank[]::new);
    anyStranded = true;
    onRetired.accept(rank);
    List<PlacedRequest> returned = executor.retire();
    for (PlacedRequest request : returned) {
      if (!request.done()) {
        waiting.takeBack(request);
      }
    }
    LOG.warn(
        "Rank {} is retired with {} requests; {} of {} ranks are live: {}",
        rank,
        returned.size(),
        live.length,
        all.length,
        reason);
    notifyListener(rank, returned, reason, nowNs);
  }

  private void notifyListener(int rank, List<PlacedRequest> returned, String reason, long nowNs) {
    for (PlacedRequest request : returned) {
      if (request.done()) {
        listener.onFinished(request.request, rank, request.outputTokens(), nowNs);
      }
    }
    for (PlacedRequest request : returned) {
      if (!request.done()) {
        listener.onReturned(request.request, rank, reason, nowNs);
      }
    }
    listener.onRankRetired(rank, reason, nowNs);
  }

  /** The end of the next transfer, or {@link SendingRequests#NEVER}. */
  long nextTransferEndNs() {
    long nextNs = SendingRequests.NEVER;
    for (WorkerRank rank : live) {
      nextNs = Math.min(nextNs, rank.nextTransferEndNs());
    }
    return nextNs;
  }

  /** Finishes the requests whose KV has been sent by now, in rank order. */
  void endTransfers(long nowNs) {
    for (WorkerRank rank : live) {
      if (rank.nextTransferEndNs() <= nowNs) {
        endTransfers(rank, nowNs);
      }
    }
  }

  private void endTransfers(WorkerRank rank, long nowNs) {
    List<PlacedRequest> sent = new ArrayList<>();
    while (rank.nextTransferEndNs() <= nowNs) {
      sent.add(rank.endTransfer());
    }
    RuntimeException failure = null;
    try {
      rank.releaseSent();
    } catch (RuntimeException e) {
      requestRetirement(rank.rank(), reason(e)); // the transfers themselves have succeeded
      failure = e;
    }
    for (PlacedRequest request : sent) {
      listener.onFinished(request.request, rank.rank(), request.outputTokens(), request.sentAtNs);
    }
    if (failure != null && !(failure instanceof FatalDeviceException)) {
      throw failure;
    }
  }

  /**
   * Checks whether a new request can be served by the live ranks; if not, {@link #settle} rejects
   * it.
   */
  void checkArrival(Request request) {
    anyStranded |= whyStranded(request) != null;
  }

  /**
   * Queues the requests that retired ranks returned, and rejects requests that no live rank can
   * ever take.
   */
  void settle(long nowNs) {
    waiting.queueReturned();
    if (!anyStranded) {
      return;
    }
    anyStranded = false;
    for (Request request : waiting.removeIf(candidate -> whyStranded(candidate) != null)) {
      listener.onRejected(request, Objects.requireNonNull(whyStranded(request)), nowNs);
    }
  }

  /** Why the live ranks can never take a request, or null. With no live rank, all requests wait. */
  private @Nullable String whyStranded(Request request) {
    int target = request.targetRank();
    if (target != Request.ANY_RANK && !request.relax() && retiredFor[target] != null) {
      return "its target rank " + target + " is retired: " + retiredFor[target];
    }
    if (live.length > 0 && request.children() >= capacity()) {
      return String.format(
          "it and its %d children exceed the %d requests that the %d live of %d ranks may hold",
          request.children(), capacity(), live.length, all.length);
    }
    return null;
  }
}
