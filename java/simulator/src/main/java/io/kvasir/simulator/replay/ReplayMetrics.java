package io.kvasir.simulator.replay;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.model.Request;
import io.kvasir.simulator.fleet.FleetLayer;
import io.kvasir.simulator.workload.Arrivals;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Counts the outcomes of all requests, and passes them to the workload and the fleet layer.
 *
 * <p>Confined to the thread that drives the replay.
 */
final class ReplayMetrics implements RequestOutcomes {

  private final Arrivals arrivals;
  private final FleetLayer fleet;
  private final Long2ObjectOpenHashMap<InFlight> inFlight = new Long2ObjectOpenHashMap<>();
  private final Map<AdpReason, Long> decisions = new EnumMap<>(AdpReason.class);
  private final List<Rejection> rejections = new ArrayList<>();
  private final Durations ttft = new Durations();
  private final Durations itl = new Durations();
  private final Durations queue = new Durations();
  private long arrived;
  private long foreignRequests;
  private long completed;
  private long outputTokens;
  private long goodRequests;
  private final @Nullable Objective objective;
  private final @Nullable FirstTokens firstTokens;

  /** A request, and the times of its arrival and its tokens. */
  private static final class InFlight {

    /** As it arrived. */
    final Request request;

    /** Whether it went past the fleet layer: its latencies are not measured. */
    final boolean foreign;

    final long arrivedNs;
    long firstTokenNs;
    long lastTokenNs;
    int tokens;

    InFlight(Request request, boolean foreign, long arrivedNs) {
      this.request = request;
      this.foreign = foreign;
      this.arrivedNs = arrivedNs;
    }
  }

  ReplayMetrics(Arrivals arrivals, FleetLayer fleet, Measures measures) {
    this.objective = measures.objective();
    this.firstTokens = measures.firstTokens() ? new FirstTokens() : null;
    this.arrivals = arrivals;
    this.fleet = fleet;
  }

  void onArrived(Request request, boolean foreign, long nowNs) {
    arrived++;
    foreignRequests += foreign ? 1 : 0;
    inFlight.put(request.id(), new InFlight(request, foreign, nowNs));
  }

  @Override
  public void onPlaced(AdpReason reason) {
    decisions.merge(reason, 1L, Long::sum);
  }

  @Override
  public boolean onStarted(Request request, long nowNs) {
    InFlight times = inFlight.get(request.id());
    if (!times.foreign) {
      queue.add(nowNs - times.arrivedNs);
    }
    return true;
  }

  @Override
  public void onToken(Request request, int index, long nowNs) {
    InFlight times = inFlight.get(request.id());
    if (index < times.tokens) {
      return; // the rank was retired before the KV was sent, so the token is a recomputation
    }
    times.tokens++;
    outputTokens++;
    if (times.foreign) {
      return;
    }
    if (index == 0) {
      times.firstTokenNs = nowNs;
      ttft.add(nowNs - times.arrivedNs);
      if (firstTokens != null) {
        firstTokens.add(times.request, nowNs - times.arrivedNs);
      }
    } else {
      itl.add(nowNs - times.lastTokenNs);
    }
    times.lastTokenNs = nowNs;
    fleet.onToken(request, index, nowNs);
  }

  @Override
  public void onFinished(Request request, int[] answer, long nowNs) {
    completed++;
    InFlight times = inFlight.remove(request.id());
    if (objective != null
        && !times.foreign
        && objective.isKept(times.arrivedNs, times.firstTokenNs, times.lastTokenNs, times.tokens)) {
      goodRequests++;
    }
    if (!times.foreign) {
      fleet.onEnded(request, true, nowNs);
    }
    arrivals.onFinished(times.request, answer, nowNs);
  }

  @Override
  public void onRejected(Request request, String reason, long nowNs) {
    rejections.add(new Rejection(request.id(), reason));
    InFlight times = inFlight.remove(request.id());
    if (!times.foreign) {
      fleet.onEnded(request, false, nowNs);
    }
    arrivals.onRejected(times.request, nowNs);
  }

  /** Requests that have been answered or rejected. */
  long settled() {
    return completed + rejections.size();
  }

  /** Requests that have arrived. */
  long arrived() {
    return arrived;
  }

  List<Rejection> rejections() {
    return rejections;
  }

  ReplayResult result(
      ReplaySettings settings,
      List<RankResult> ranks,
      UpperBound upperBound,
      @Nullable ReuseDistances reuse,
      long prefillNs,
      long virtualNs,
      long wallNs) {
    return new ReplayResult(
        settings,
        fleet.result(),
        fleet.apart(),
        arrived,
        foreignRequests,
        completed,
        rejections,
        ranks,
        outputTokens,
        upperBound.cachedTokens(),
        decisions,
        ttft.summary(),
        itl.summary(),
        queue.summary(),
        objective == null ? OptionalLong.empty() : OptionalLong.of(goodRequests),
        reuse == null ? null : reuse.curve(),
        firstTokens,
        prefillNs,
        virtualNs,
        wallNs);
  }
}
