package io.kvasir.engine.execute;

import io.kvasir.engine.device.FatalDeviceException;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.IntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ranks of a worker, which of them are still live, and what follows when one is lost.
 *
 * <p>A retired rank gives its requests back; neither its pool nor its engine is called again. It
 * never returns.
 *
 * <p>Confined to the loop's thread.
 */
final class LiveRanks {

  private static final Logger LOG = LoggerFactory.getLogger(LiveRanks.class);

  private final WorkerRank[] all;
  private final IntConsumer leaveOut;
  private final WaitingRequests waiting;
  private final RequestListener listener;
  private final int maxActiveRequests;

  /** In rank order; replaced, never changed, so that whoever walks along it may retire ranks. */
  private WorkerRank[] live;

  /** Why a rank is retired, or shall be, by rank; null if it is not. */
  private final String[] retiredFor;

  private final String[] askedFor;
  private boolean asked;

  /** Whether a request may wait that the live ranks can never take. */
  private boolean anyStranded;

  /** {@code leaveOut} is told of ranks in which nobody must look prompts up any more. */
  LiveRanks(
      List<? extends WorkerRank> ranks,
      int maxActiveRequests,
      IntConsumer leaveOut,
      WaitingRequests waiting,
      RequestListener listener) {
    this.all = ranks.toArray(WorkerRank[]::new);
    this.live = all;
    this.leaveOut = leaveOut;
    this.waiting = waiting;
    this.listener = listener;
    this.maxActiveRequests = maxActiveRequests;
    this.retiredFor = new String[all.length];
    this.askedFor = new String[all.length];
  }

  /** Ranks of the worker, retired or not. */
  int count() {
    return all.length;
  }

  /** The live ranks; not to be changed, and not changed when ranks are lost. */
  WorkerRank[] live() {
    return live;
  }

  WorkerRank rank(int rank) {
    return all[rank];
  }

  /** Requests that the live ranks hold. */
  int activeRequests() {
    int total = 0;
    for (WorkerRank executor : live) {
      total += executor.activeRequests();
    }
    return total;
  }

  /** Requests that the live ranks may hold together. */
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

  /** Asks for a rank to be retired by {@link #retireAsked}; false if that is known already. */
  boolean ask(int rank, String reason) {
    Objects.requireNonNull(reason, "reason");
    if (!isLive(rank) || askedFor[rank] != null) {
      return false;
    }
    askedFor[rank] = reason;
    asked = true;
    return true;
  }

  void retireAsked(long nowNs) {
    if (asked) {
      asked = false;
      for (WorkerRank executor : live) {
        String reason = askedFor[executor.rank()];
        if (reason != null) {
          retire(executor, reason, nowNs);
        }
      }
    }
  }

  /** Why a rank is asked to be retired that has not been yet, or null. */
  String asked(int rank) {
    return askedFor[rank];
  }

  void retire(WorkerRank executor, RuntimeException cause, long nowNs) {
    retire(executor, reason(cause), nowNs);
  }

  static String reason(RuntimeException cause) {
    boolean told = cause instanceof FatalDeviceException && cause.getMessage() != null;
    return told ? cause.getMessage() : cause.toString();
  }

  /** Everything is in order before the listener is told. */
  void retire(WorkerRank executor, String reason, long nowNs) {
    int rank = executor.rank();
    retiredFor[rank] = reason;
    live = Arrays.stream(live).filter(other -> other != executor).toArray(WorkerRank[]::new);
    anyStranded = true;
    leaveOut.accept(rank);
    List<PlacedRequest> left = executor.retire();
    for (PlacedRequest request : left) {
      if (!request.done()) {
        waiting.giveBack(request);
      }
    }
    LOG.warn(
        "Rank {} is retired with {} requests; {} of {} ranks are left: {}",
        rank,
        left.size(),
        live.length,
        all.length,
        reason);
    tell(rank, left, reason, nowNs);
  }

  private void tell(int rank, List<PlacedRequest> left, String reason, long nowNs) {
    for (PlacedRequest request : left) {
      if (request.done()) {
        listener.onFinished(request.request, rank, request.outputTokens(), nowNs);
      }
    }
    for (PlacedRequest request : left) {
      if (!request.done()) {
        listener.onReturned(request.request, rank, reason, nowNs);
      }
    }
    listener.onRankRetired(rank, reason, nowNs);
  }

  /** When the next transfer ends, or {@link SendingRequests#NEVER}. */
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
      ask(rank.rank(), reason(e)); // what was sent is sent
      failure = e;
    }
    for (PlacedRequest request : sent) {
      listener.onFinished(request.request, rank.rank(), request.outputTokens(), request.sentAtNs);
    }
    if (failure != null && !(failure instanceof FatalDeviceException)) {
      throw failure;
    }
  }

  /** A request arrived that may have to be rejected because ranks are lost. */
  void checkArrival(Request request) {
    anyStranded |= whyStranded(request) != null;
  }

  /** Lines up what lost ranks gave back and rejects what no live rank can ever take. */
  void settle(long nowNs) {
    waiting.lineUpReturned();
    if (!anyStranded) {
      return;
    }
    anyStranded = false;
    for (Request request : waiting.removeIf(candidate -> whyStranded(candidate) != null)) {
      listener.onRejected(request, whyStranded(request), nowNs);
    }
  }

  /** Why the live ranks can never take a request, or null. Without any, all requests wait. */
  private String whyStranded(Request request) {
    int target = request.targetRank();
    if (target != Request.ANY_RANK && !request.relax() && retiredFor[target] != null) {
      return "it insists on rank " + target + ", which is retired: " + retiredFor[target];
    }
    if (live.length > 0 && request.children() >= capacity()) {
      return String.format(
          "it and its %d children are more than the %d requests that the %d of %d ranks hold which"
              + " are left",
          request.children(), capacity(), live.length, all.length);
    }
    return null;
  }
}
