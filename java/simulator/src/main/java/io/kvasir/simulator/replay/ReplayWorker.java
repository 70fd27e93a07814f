package io.kvasir.simulator.replay;

import io.kvasir.engine.execute.AdpWorker;
import io.kvasir.engine.execute.CrowdedPoolException;
import io.kvasir.engine.execute.RankGroup;
import io.kvasir.engine.execute.RankPools;
import io.kvasir.engine.execute.RequestListener;
import io.kvasir.engine.execute.StepEngine;
import io.kvasir.engine.execute.TimedStepEngine;
import io.kvasir.engine.lockstep.GatheredFrames;
import io.kvasir.engine.lockstep.Member;
import io.kvasir.engine.lockstep.RankCollective;
import io.kvasir.engine.pool.BlockPool;
import io.kvasir.engine.pool.Occupancy;
import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.EngineMetrics;
import io.kvasir.hash.BlockHasher;
import io.kvasir.hash.HashedRequest;
import io.kvasir.simulator.fleet.WorkerBlockSink;
import io.kvasir.simulator.workload.Arrivals;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The worker under replay, with modelled time: measured, and continued by a generating worker if it
 * has context ranks.
 *
 * <p>Confined to the thread that drives the replay. Owns its pools.
 */
final class ReplayWorker implements AutoCloseable {

  private final ReplaySettings settings;
  private final List<Member> members;
  private final Member self;
  private final @Nullable RankGroup group;
  private final List<RankMeter> meters = new ArrayList<>();
  private final AdpWorker worker;
  private final long[] nextEvent;
  private long prefillNs;

  /** Continues requests after the context ranks; null if the ranks generate the answers. */
  private final @Nullable Generation generation;

  /** Blocks whose KV comes from prefill workers; null if there are none. */
  private final @Nullable ArrivingBlocks arriving;

  /** Combines a rank's measurements with its counts. */
  interface RankSummary {
    RankResult of(int rank, RankMeasure measure);
  }

  /**
   * Creates this process's part of the worker; the whole worker if the collective has one member.
   *
   * @param settings the settings of all workers
   * @param index its place among the workers, from 0
   * @param emitsEvents whether block events are needed
   * @param engines the engine of each rank
   */
  ReplayWorker(
      ReplaySettings settings,
      int index,
      boolean emitsEvents,
      RankCollective collective,
      RankPools.Place place,
      BlockHasher hasher,
      IntFunction<StepEngine> engines,
      RequestListener listener) {
    this.settings = settings;
    this.members = collective.members();
    this.self = members.get(collective.self());
    this.group = members.size() == 1 ? null : new RankGroup(collective);
    this.generation =
        settings.mode() instanceof ReplayMode.Context mode
            ? new Generation(mode, new TimedStepEngine(settings.engines().timing()), listener)
            : null;
    RequestListener outputs = generation == null ? listener : generation;
    ReplaySettings.Routing routing = settings.routing();
    this.worker =
        AdpWorker.builder(self.ranks(), settings.poolShape(), hasher)
            .place(place)
            .groups(settings.pool().groups())
            .events(emitsEvents)
            .executor(settings.executorOptions())
            .router(routing.router(), routing.config())
            .timing(settings.timing())
            .queue(routing.queuePolicy())
            .group(group)
            .open((rank, pool) -> metered(index, engines.apply(rank), pool), outputs);
    this.nextEvent = new long[self.ranks()];
    this.arriving =
        settings.mode() instanceof ReplayMode.Apart apart && !apart.prefills()
            ? new ArrivingBlocks(worker, self.ranks(), settings.executor().maxActiveRequests())
            : null;
  }

  private StepEngine metered(int index, StepEngine engine, BlockPool pool) {
    int rank = index * settings.ranks() + self.firstRank() + meters.size();
    RankMeter meter = new RankMeter(rank, engine, settings.engines().faults(), pool);
    meters.add(meter);
    return meter;
  }

  /** The blocks whose KV comes from prefill workers. */
  ArrivingBlocks arriving() {
    return Objects.requireNonNull(arriving, "arriving");
  }

  /** Moves the end of a request's transfer. */
  void endTransferAt(long requestId, long endNs) {
    worker.endTransferAt(requestId, endNs);
  }

  /** Modelled time in which at least one rank of this process prefilled. */
  long prefillNs() {
    return prefillNs;
  }

  /** Whether there is nothing to compute. */
  boolean idle() {
    return worker.idle();
  }

  int liveRanks() {
    return worker.liveRanks();
  }

  /** Puts a request into the waiting queue. */
  void submit(HashedRequest request) {
    worker.submit(generation == null ? request : generation.contextPart(request));
  }

  /** When the next transfer or answer ends outside an iteration, or {@link Arrivals#NEVER}. */
  long nextWakeNs() {
    return Math.min(worker.nextWakeNs(), generation == null ? Arrivals.NEVER : generation.nextNs());
  }

  /** Ends the transfers and answers that are due by now; true if there were any. */
  boolean wake(long nowNs) {
    if (nextWakeNs() > nowNs) {
      return false;
    }
    worker.endTransfers(nowNs);
    if (generation != null) {
      generation.reportUntil(nowNs);
    }
    return true;
  }

  /** Runs an iteration without the ranks of unhealthy devices. */
  long iterate(long nowNs) {
    meters.forEach(meter -> meter.startAt(nowNs));
    long durationNs = step(nowNs);
    boolean prefilled = false;
    for (RankMeter meter : meters) {
      prefilled |= meter.takePrefilled();
    }
    prefillNs += prefilled ? durationNs : 0;
    return durationNs;
  }

  /**
   * An iteration. A rank where arriving KV leaves no room to start anything has no part in it: the
   * steps of the others have run and ended.
   */
  private long step(long nowNs) {
    try {
      return worker.iterate(nowNs);
    } catch (CrowdedPoolException e) {
      if (arriving == null || arriving.isEmpty() || !CrowdedPoolException.only(e)) {
        throw e;
      }
      return meters.stream().mapToLong(RankMeter::stepNs).max().orElse(0);
    }
  }

  /** Passes on the block events of its ranks since the last call. Settles the pools. */
  void drainBlocks(WorkerBlockSink sink) {
    for (int i = 0; i < self.ranks(); i++) {
      int rank = i;
      if (worker.isLive(self.firstRank() + i)) {
        BlockPool pool = worker.pools().get(i);
        pool.drainEvents(
            (eventId, event) -> {
              requireNext(rank, eventId);
              sink.on(rank, event);
            });
      } else {
        sink.on(rank, new BlockEvent.Cleared());
      }
    }
  }

  private void requireNext(int rank, long eventId) {
    if (eventId != nextEvent[rank]++) {
      throw new IllegalStateException(
          "events of rank " + rank + " are lost before number " + eventId);
    }
  }

  /** The load of its live ranks. Settles the pools. */
  EngineMetrics metrics(int waitingRequests) {
    long activeBlocks = 0;
    for (int i = 0; i < self.ranks(); i++) {
      activeBlocks += worker.isLive(self.firstRank() + i) ? occupancy(i).activeBlocks() : 0;
    }
    long totalBlocks = (long) self.ranks() * settings.pool().blocks();
    return new EngineMetrics(activeBlocks, totalBlocks, waitingRequests);
  }

  /** The results of all ranks. To be called once, by all processes. */
  List<RankResult> ranks(RankSummary summary) {
    List<RankResult> results = new ArrayList<>();
    for (RankMeasure measure : group == null ? ownMeasures() : gatherMeasures(group)) {
      results.add(summary.of(results.size(), measure));
    }
    return results;
  }

  private List<RankMeasure> ownMeasures() {
    List<RankMeasure> measures = new ArrayList<>();
    for (int i = 0; i < meters.size(); i++) {
      RankMeter meter = meters.get(i);
      // The pool of a retired rank is not queried; its last observed occupancy is used.
      boolean live = worker.isLive(self.firstRank() + i);
      Occupancy occupancy = live ? occupancy(i) : meter.lastOccupancy();
      measures.add(
          RankMeasure.of(meter, occupancy, worker.executors().get(i).peakInTransferRequests()));
    }
    return measures;
  }

  /** The measurements of a lost process are lost; zeros take their place. */
  private List<RankMeasure> gatherMeasures(RankGroup others) {
    ByteBuffer body = ByteBuffer.allocate(self.ranks() * RankMeasure.BYTES);
    ownMeasures().forEach(measure -> measure.write(body));
    GatheredFrames gathered = others.gatherSummary(body.flip());
    List<RankMeasure> measures = new ArrayList<>();
    for (Member member : members) {
      ByteBuffer frame = gathered.frame(member.index());
      for (int i = 0; i < member.ranks(); i++) {
        measures.add(
            frame == null ? RankMeasure.lost(settings.pool().blocks()) : RankMeasure.read(frame));
      }
    }
    return measures;
  }

  private Occupancy occupancy(int i) {
    BlockPool pool = worker.pools().get(i);
    pool.settle();
    return pool.occupancy();
  }

  @Override
  public void close() {
    worker.close();
  }
}
