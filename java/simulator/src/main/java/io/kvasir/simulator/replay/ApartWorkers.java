package io.kvasir.simulator.replay;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashedRequest;
import io.kvasir.model.Request;
import io.kvasir.simulator.fleet.ApartFleet;
import io.kvasir.simulator.fleet.KvWorkers;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a replay that compute prompts and answers apart, prefill workers first.
 *
 * <p>Confined to the thread that drives the replay.
 */
final class ApartWorkers implements KvWorkers {

  private final ApartFleet fleet;
  private final ReplayWorkers workers;
  private final int prefillWorkers;
  private final int tokensPerBlock;

  private ApartWorkers(
      ApartFleet fleet, ReplayWorkers workers, int prefillWorkers, int tokensPerBlock) {
    this.fleet = fleet;
    this.workers = workers;
    this.prefillWorkers = prefillWorkers;
    this.tokensPerBlock = tokensPerBlock;
  }

  /** Makes the workers and connects the fleet with them. */
  static void add(
      ReplaySettings settings,
      ReplayMode.Apart mode,
      ApartFleet fleet,
      RankCollective collective,
      RankPools.Place place,
      BlockHasher hasher,
      ReplayWorkers workers,
      ReplayMetrics metrics) {
    StepEngine prefill = new TimedStepEngine(settings.engines().timing());
    StepEngine decode =
        new DecodeStepEngine(
            settings.engines().timing(),
            settings.pool().tokensPerBlock(),
            id -> !fleet.isWhole(id));
    int prefillWorkers = 0;
    for (int i = 0; i < fleet.workers(); i++) {
      boolean prefills = fleet.prefills(i);
      prefillWorkers += prefills ? 1 : 0;
      WorkerTally tally =
          new WorkerTally(
              settings.ranks(),
              prefills ? new PromptOutcomes(fleet, metrics) : new AnswerOutcomes(fleet, metrics));
      workers.add(
          new ReplayWorker(
              settings.withMode(new ReplayMode.Apart(mode.transfer(), prefills)),
              i,
              fleet.followsBlocks(i),
              collective,
              place,
              hasher,
              rank -> prefills ? prefill : decode,
              tally),
          tally);
    }
    fleet.connect(
        new ApartWorkers(fleet, workers, prefillWorkers, settings.pool().tokensPerBlock()));
  }

  private ReplayWorker decode(int decodeWorker) {
    return workers.worker(prefillWorkers + decodeWorker);
  }

  @Override
  public void endTransferAt(int prefillWorker, long requestId, long endNs) {
    workers.worker(prefillWorker).endTransferAt(requestId, endNs);
  }

  @Override
  public @Nullable Room reserve(int decodeWorker, HashedRequest request) {
    return decode(decodeWorker).arriving().reserve(request);
  }

  /**
   * The events of an iteration in progress are drained already, with its end as their time: those
   * of the stored blocks follow them.
   */
  @Override
  public void store(int decodeWorker, long requestId, long nowNs) {
    decode(decodeWorker).arriving().store(requestId);
    int index = prefillWorkers + decodeWorker;
    PacedWorker paced = workers.all().get(index);
    fleet.onIterated(index, paced, Math.max(nowNs, paced.readyNs()));
  }

  @Override
  public long mostMatchedTokens(HashedRequest request) {
    int most = 0;
    for (int i = prefillWorkers; i < workers.all().size(); i++) {
      most = Math.max(most, workers.worker(i).arriving().mostMatchedBlocks(request));
    }
    return (long) most * tokensPerBlock;
  }

  /** What becomes of prompts at a prefill worker. */
  private record PromptOutcomes(ApartFleet fleet, ReplayMetrics metrics)
      implements RequestOutcomes {

    @Override
    public void onPlaced(AdpReason reason) {
      metrics.onPlaced(reason);
    }

    @Override
    public boolean onStarted(Request request, long nowNs) {
      return metrics.onStarted(request, nowNs);
    }

    @Override
    public void onToken(Request request, int index, long nowNs) {
      fleet.onComputed(request.id(), nowNs);
    }

    @Override
    public void onFinished(Request request, int[] answer, long nowNs) {
      fleet.onSent(request, nowNs);
    }

    @Override
    public void onRejected(Request request, String reason, long nowNs) {
      metrics.onRejected(fleet.whole(request), reason, nowNs);
    }
  }

  /** What becomes of requests at a decode worker. */
  private record AnswerOutcomes(ApartFleet fleet, ReplayMetrics metrics)
      implements RequestOutcomes {

    @Override
    public void onPlaced(AdpReason reason) {
      metrics.onPlaced(reason);
    }

    @Override
    public boolean onStarted(Request request, long nowNs) {
      return fleet.isWhole(request.id()) && metrics.onStarted(request, nowNs);
    }

    @Override
    public void onToken(Request request, int index, long nowNs) {
      metrics.onToken(request, index, nowNs);
    }

    @Override
    public void onFinished(Request request, int[] answer, long nowNs) {
      metrics.onFinished(request, answer, nowNs);
    }

    @Override
    public void onRejected(Request request, String reason, long nowNs) {
      metrics.onRejected(request, reason, nowNs);
    }
  }
}
