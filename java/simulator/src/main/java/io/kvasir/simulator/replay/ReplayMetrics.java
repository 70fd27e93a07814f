package io.kvasir.simulator.replay;

import io.kvasir.execute.RequestListener;
import io.kvasir.model.Request;
import io.kvasir.route.Decision;
import io.kvasir.route.Reason;
import io.kvasir.simulator.workload.Arrivals;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Counts what becomes of requests, and tells the workload.
 *
 * <p>Confined to the thread that drives the replay.
 */
final class ReplayMetrics implements RequestListener {

  private final Arrivals arrivals;
  private final Long2ObjectOpenHashMap<InFlight> inFlight = new Long2ObjectOpenHashMap<>();
  private final Map<Reason, Long> decisions = new EnumMap<>(Reason.class);
  private final List<Rejection> rejections = new ArrayList<>();
  private final Durations ttft = new Durations();
  private final Durations itl = new Durations();
  private final Durations queue = new Durations();
  private final long[] placed;
  private final long[] inputTokens;
  private final long[] cachedTokens;
  private final long[] preemptions;
  private long arrived;
  private long completed;
  private long outputTokens;

  /** When a request arrived and when it last produced a token. */
  private static final class InFlight {
    final long arrivedNs;
    long lastTokenNs;

    InFlight(long arrivedNs) {
      this.arrivedNs = arrivedNs;
    }
  }

  ReplayMetrics(int ranks, Arrivals arrivals) {
    this.arrivals = arrivals;
    this.placed = new long[ranks];
    this.inputTokens = new long[ranks];
    this.cachedTokens = new long[ranks];
    this.preemptions = new long[ranks];
  }

  void onArrived(Request request, long nowNs) {
    arrived++;
    inFlight.put(request.id(), new InFlight(nowNs));
  }

  @Override
  public void onPlaced(Decision decision, long nowNs) {
    placed[decision.rank()]++;
    decisions.merge(decision.reason(), 1L, Long::sum);
  }

  @Override
  public void onStarted(Request request, int rank, int cached, boolean resumed, long nowNs) {
    if (!resumed) {
      queue.add(nowNs - inFlight.get(request.id()).arrivedNs);
      inputTokens[rank] += request.promptTokens();
      cachedTokens[rank] += cached;
    }
  }

  @Override
  public void onToken(Request request, int rank, int index, int token, long nowNs) {
    InFlight times = inFlight.get(request.id());
    if (index == 0) {
      ttft.add(nowNs - times.arrivedNs);
    } else {
      itl.add(nowNs - times.lastTokenNs);
    }
    times.lastTokenNs = nowNs;
    outputTokens++;
  }

  @Override
  public void onPaused(Request request, int rank, long nowNs) {
    preemptions[rank]++;
  }

  @Override
  public void onFinished(Request request, int rank, int[] answer, long nowNs) {
    completed++;
    inFlight.remove(request.id());
    arrivals.onFinished(request, answer, nowNs);
  }

  @Override
  public void onRejected(Request request, String reason, long nowNs) {
    rejections.add(new Rejection(request.id(), reason));
    inFlight.remove(request.id());
    arrivals.onRejected(request, nowNs);
  }

  /** Requests that will not be heard of again. */
  long settled() {
    return completed + rejections.size();
  }

  /** Requests that came so far. */
  long arrived() {
    return arrived;
  }

  List<Rejection> rejections() {
    return rejections;
  }

  ReplayResult result(ReplayInstance instance, UpperBound upperBound, long virtualNs, long wallNs) {
    return new ReplayResult(
        instance.settings(),
        arrived,
        completed,
        rejections,
        instance.ranks(this::rank),
        outputTokens,
        upperBound.cachedTokens(),
        decisions,
        ttft.summary(),
        itl.summary(),
        queue.summary(),
        virtualNs,
        wallNs);
  }

  private RankResult rank(int rank, RankMeasure measure) {
    return new RankResult(
        placed[rank],
        inputTokens[rank],
        cachedTokens[rank],
        measure.busyNs(),
        measure.peakActiveBlocks(),
        measure.capacityBlocks(),
        measure.evictedBlocks(),
        preemptions[rank]);
  }
}
