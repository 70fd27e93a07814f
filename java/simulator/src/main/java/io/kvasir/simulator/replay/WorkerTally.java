package io.kvasir.simulator.replay;

import io.kvasir.engine.adp.Decision;
import io.kvasir.engine.execute.RequestListener;
import io.kvasir.model.Request;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Counts the outcomes of a worker's requests and withholds each end until its time: an iteration is
 * computed when it starts, but its results must not be visible before it ends.
 *
 * <p>Confined to the thread that drives the replay.
 */
final class WorkerTally implements RequestListener {

  private static final int[] NO_ANSWER = {};

  private final RequestOutcomes metrics;
  private final long[] placed;
  private final long[] inputTokens;
  private final long[] cachedTokens;
  private final long[] preemptions;
  private final LongOpenHashSet running = new LongOpenHashSet();
  private int unsettled;
  private final Deque<End> ends = new ArrayDeque<>();

  /** How a request ended: with an answer, or rejected for a reason. */
  @SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
  private record End(Request request, int[] answer, @Nullable String reason, long atNs) {}

  WorkerTally(int ranks, RequestOutcomes metrics) {
    this.metrics = metrics;
    this.placed = new long[ranks];
    this.inputTokens = new long[ranks];
    this.cachedTokens = new long[ranks];
    this.preemptions = new long[ranks];
  }

  /** A request was submitted. */
  void onSubmitted() {
    unsettled++;
  }

  /** Submitted requests that are not running, as computed so far. */
  int waitingRequests() {
    return unsettled - running.size();
  }

  @Override
  public void onPlaced(Decision decision, long nowNs) {
    placed[decision.rank()]++;
    metrics.onPlaced(decision.reason());
  }

  @Override
  public void onStarted(Request request, int rank, int cached, boolean resumed, long nowNs) {
    running.add(request.id());
    if (!resumed && metrics.onStarted(request, nowNs)) {
      inputTokens[rank] += request.promptTokens();
      cachedTokens[rank] += cached;
    }
  }

  @Override
  public void onToken(Request request, int rank, int index, int token, long nowNs) {
    metrics.onToken(request, index, nowNs);
  }

  @Override
  public void onPaused(Request request, int rank, long nowNs) {
    preemptions[rank]++;
    running.remove(request.id());
  }

  @Override
  public void onFinished(Request request, int rank, int[] answer, long nowNs) {
    ends.add(new End(request, answer, null, nowNs));
    unsettled--;
    running.remove(request.id());
  }

  @Override
  public void onReturned(Request request, int rank, String reason, long nowNs) {
    running.remove(request.id());
  }

  @Override
  public void onRejected(Request request, String reason, long nowNs) {
    unsettled--;
    running.remove(request.id());
    ends.add(new End(request, NO_ANSWER, reason, nowNs));
  }

  /** Reports the ends due by a time; true if there were any. */
  boolean reportEnds(long untilNs) {
    boolean any = false;
    while (!ends.isEmpty() && ends.peek().atNs() <= untilNs) {
      End end = ends.remove();
      any = true;
      if (end.reason() == null) {
        metrics.onFinished(end.request(), end.answer(), end.atNs());
      } else {
        metrics.onRejected(end.request(), end.reason(), end.atNs());
      }
    }
    return any;
  }

  RankResult rank(int rank, RankMeasure measure) {
    return new RankResult(
        placed[rank],
        inputTokens[rank],
        cachedTokens[rank],
        measure.busyNs(),
        measure.peakActiveBlocks(),
        measure.capacityBlocks(),
        measure.evictedBlocks(),
        preemptions[rank],
        measure.peakInTransferRequests(),
        measure.load());
  }
}
