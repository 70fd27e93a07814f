package io.kvasir.gateway.route;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.legs.LegRates;
import io.kvasir.gateway.events.FleetSteps;
import io.kvasir.gateway.verify.PrefixBreaks;
import io.kvasir.gateway.worker.WorkerSpec;
import io.kvasir.model.RankId;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The workers that serve one model or its LoRA adapters, and the router over them.
 *
 * <p>A policy that chooses ranks sees ranks of workers. A policy that chooses workers sees each
 * rank as a worker of its own, so that conversations stay on one rank, and not only on one worker.
 *
 * <p>Thread-safe.
 */
public final class ModelFleet implements AutoCloseable {

  /** Value of {@link Target#dpRank} where the worker chooses the rank. */
  public static final int ANY_RANK = RankId.ANY;

  private final FleetRouter router;
  private final boolean choosesRanks;
  private final int tokensPerBlock;

  /** Once they are set, events do not change the block size, and workers change nothing. */
  private volatile boolean keepsBlockSize;

  private volatile boolean fixed;

  private final @Nullable FollowedRanks followed;
  private final @Nullable FleetSteps steps;
  private final List<FleetWorker> workers = new CopyOnWriteArrayList<>();
  private final AtomicInteger departures = new AtomicInteger();
  private final LegRates legRates = new LegRates(System::nanoTime);
  private volatile RoutingExactness exactness = new RoutingExactness();
  private volatile PrefixBreaks breaks = new PrefixBreaks();

  /**
   * Where a request goes.
   *
   * @param worker the worker
   * @param dpRank its rank, or {@link #ANY_RANK}
   */
  public record Target(FleetWorker worker, int dpRank) {}

  /**
   * Creates a fleet without workers.
   *
   * @param router the router, without ranks; closed with the fleet
   * @param choosesRanks whether its placements name ranks
   * @param tokensPerBlock block size of its workers
   * @param followed the block events of its workers; null where they are not followed
   * @param steps the steps that its workers report; null where the router does not learn from them
   */
  public ModelFleet(
      FleetRouter router,
      boolean choosesRanks,
      int tokensPerBlock,
      @Nullable FollowedRanks followed,
      @Nullable FleetSteps steps) {
    this.router = router;
    this.choosesRanks = choosesRanks;
    this.tokensPerBlock = tokensPerBlock;
    this.followed = followed;
    this.steps = steps;
  }

  /** {@return block size of the workers} */
  public int tokensPerBlock() {
    return tokensPerBlock;
  }

  /** {@return the block events of the workers; null where they are not followed} */
  public @Nullable FollowedRanks followed() {
    return followed;
  }

  /** {@return the steps that the workers report; null where the router does not learn from them} */
  public @Nullable FleetSteps steps() {
    return steps;
  }

  /** {@return how exactly requests are routed} */
  public RoutingExactness exactness() {
    return exactness;
  }

  /** {@return where prompts differ early and go on as others do} */
  public PrefixBreaks breaks() {
    return breaks;
  }

  /**
   * {@return how exactly requests to an endpoint are routed}
   *
   * @param tokens what is known of their tokens
   */
  public RoutingExactness.State exactness(EndpointTokens tokens) {
    Map<String, InexactCause> causes = new TreeMap<>();
    for (FleetWorker worker : workers) {
      InexactCause cause = InexactCause.worse(inexact(worker), unnamed(worker, tokens.path()));
      if (cause != null && worker.healthy()) {
        causes.put(worker.name(), cause);
      }
    }
    return RoutingExactness.state(tokens, causes);
  }

  private static @Nullable InexactCause unnamed(FleetWorker worker, String path) {
    return worker.profile().ranks() > 1 && !worker.steering(path).steers()
        ? InexactCause.RANK_UNNAMED
        : null;
  }

  /**
   * {@return why a worker is not matched exactly; null if it is}
   *
   * @param worker the worker
   */
  public @Nullable InexactCause inexact(FleetWorker worker) {
    return followed == null ? InexactCause.NO_EVENTS : followed.inexact(worker);
  }

  /** Takes over what is known of the requests of a fleet that this one replaces. */
  void continues(ModelFleet before) {
    exactness = before.exactness;
    breaks = before.breaks;
  }

  /** {@return the router} */
  public FleetRouter router() {
    return router;
  }

  /** {@return how often its workers, and those that compute prompts for them, get requests} */
  public LegRates legRates() {
    return legRates;
  }

  /** {@return the workers, in the order in which they were added} */
  public List<FleetWorker> workers() {
    return workers;
  }

  /** {@return how many workers have been removed} */
  public int departures() {
    return departures.get();
  }

  /**
   * Adds a worker, or changes what the router knows of it.
   *
   * @param worker the worker
   */
  synchronized void add(FleetWorker worker) {
    if (join(worker)) {
      FleetWorker before = worker.membership().before();
      if (before != null) {
        unfollow(before); // some events have one reader only
      }
      if (followed != null) {
        followed.add(worker);
      }
      addSteps(worker);
    }
  }

  /** Adds a worker without its events and steps, or updates its capacity; true if it is new. */
  synchronized boolean join(FleetWorker worker) {
    boolean added = !workers.contains(worker) && workers.add(worker);
    for (int rank = 0; rank < worker.routedRanks(); rank++) {
      router.addRank(rankId(worker, rank), new RankCapacity(worker.profile().kvBlocks(), 0));
    }
    return added;
  }

  /** Ranks that the worker chooses itself are one rank here, and their steps say nothing of it. */
  private void addSteps(FleetWorker worker) {
    List<String> endpoints = worker.profile().forwardPasses();
    for (int rank = 0; steps != null && rank < endpoints.size(); rank++) {
      if (worker.routedRanks() == endpoints.size()) {
        int named = rank + worker.profile().rankOffset();
        steps.addRank(rankId(worker, rank), endpoints.get(rank), named);
      }
    }
  }

  /**
   * Removes a worker. It is among the workers, so that requests exclude it, until the router has
   * none of its ranks. Others can be added meanwhile.
   */
  void remove(FleetWorker worker) {
    synchronized (this) {
      if (!workers.contains(worker)) {
        return;
      }
      departures.incrementAndGet();
      unfollow(worker);
    }
    for (int rank = 0; rank < worker.routedRanks(); rank++) {
      router.removeRank(rankId(worker, rank));
    }
    workers.remove(worker);
  }

  /**
   * {@return what is wrong with a worker's description, by what its engine says and by its events,
   * in words}
   *
   * @param worker the worker
   */
  public List<String> problems(FleetWorker worker) {
    List<String> problems = worker.contradictions();
    if (followed != null) {
      problems.addAll(followed.problems(worker, blockSizeOfEvents(worker) > 0));
    }
    return problems;
  }

  /** {@return whether workers change nothing any more} */
  boolean isFixed() {
    return fixed;
  }

  /** The fleet stays as it is. */
  void fix() {
    fixed = true;
    keepsBlockSize = true;
  }

  /** The fleet keeps its block size, whatever the events say. */
  void keepBlockSize() {
    keepsBlockSize = true;
  }

  /**
   * The block size that a worker's events have instead of the fleet's, if nothing speaks for the
   * fleet's: it is not stated, no worker holds blocks, and it was not changed before. 0 otherwise.
   */
  int blockSizeOfEvents(FleetWorker worker) {
    if (followed == null || keepsBlockSize || worker.statesBlockSize()) {
      return 0;
    }
    int found = followed.otherBlockSize(worker);
    boolean agreed =
        found > 0
            && workers.stream()
                .anyMatch(
                    each ->
                        each.statesBlockSize()
                            ? each.profile().blockSize() == tokensPerBlock
                            : followed.holdsBlocks(each));
    return agreed ? 0 : found;
  }

  /**
   * Follows no events and steps any more, because another fleet serves the model from now on. The
   * router stays, for the requests in progress.
   */
  synchronized void retire() {
    workers.forEach(this::unfollow);
  }

  private void unfollow(FleetWorker worker) {
    if (followed != null) {
      followed.remove(worker);
    }
    for (int rank = 0; steps != null && rank < worker.routedRanks(); rank++) {
      steps.removeRank(rankId(worker, rank));
    }
  }

  /**
   * {@return the id of a worker's rank at the router}
   *
   * @param worker the worker
   * @param rank its rank, from 0
   */
  public RankId rankId(FleetWorker worker, int rank) {
    return choosesRanks
        ? new RankId(worker.id(), rank)
        : new RankId((long) worker.id() * WorkerSpec.MAX_RANKS + rank, 0);
  }

  /**
   * The target that a placement names.
   *
   * @param rank the rank of a placement
   * @return the worker and its rank; null if it was removed since
   */
  public @Nullable Target target(RankId rank) {
    long number = choosesRanks ? rank.workerId() : rank.workerId() / WorkerSpec.MAX_RANKS;
    int dpRank = choosesRanks ? rank.dpRank() : (int) (rank.workerId() % WorkerSpec.MAX_RANKS);
    for (FleetWorker worker : workers) {
      if (worker.id() == number) {
        return new Target(worker, worker.routedRanks() == 1 ? ANY_RANK : dpRank);
      }
    }
    return null;
  }

  /**
   * A filter that excludes workers: some by name, and all that can take no request for a model now.
   * O(ranks of those workers).
   *
   * @param excluded workers to exclude
   * @param model the fleet's model, or an adapter of it
   * @param panics whether few workers are left; see {@link Ejection#panics}
   * @param nowNs the current time, in nanoseconds
   * @return the filter
   */
  public RankFilter without(
      Collection<FleetWorker> excluded, String model, boolean panics, long nowNs) {
    Set<RankId> ranks = new HashSet<>();
    for (FleetWorker worker : workers) {
      if (excluded.contains(worker)
          || !worker.takes(panics, nowNs)
          || !worker.models().contains(model)) {
        for (int rank = 0; rank < worker.routedRanks(); rank++) {
          ranks.add(rankId(worker, rank));
        }
      }
    }
    return ranks.isEmpty() ? RankFilter.ANY : RankFilter.exclude(ranks);
  }

  /**
   * A filter that demands a target.
   *
   * @param target the target
   * @return the filter
   */
  public RankFilter pin(Target target) {
    if (target.dpRank() == ANY_RANK) {
      return choosesRanks
          ? RankFilter.pinWorker(target.worker().id())
          : RankFilter.pinWorker(rankId(target.worker(), 0).workerId());
    }
    RankId rank = rankId(target.worker(), target.dpRank());
    return choosesRanks ? RankFilter.pin(rank) : RankFilter.pinWorker(rank.workerId());
  }

  /**
   * Chooses a rank and books the request there.
   *
   * @param request the request
   * @return the placement, a wait for one, or why there is none
   */
  public RouteOutcome route(FleetRequest request) {
    return router.route(request);
  }

  /**
   * Reads the load that the router has placed. O(ranks).
   *
   * @param out receives one entry for each rank
   */
  public void loads(PredictedLoads out) {
    router.loads(out);
  }

  /** A worker was asked about itself. */
  void onAnswer(FleetWorker worker) {
    if (followed != null) {
      followed.onAnswer(worker, blockSizeOfEvents(worker) > 0);
    }
  }

  /** A worker has become unhealthy. */
  void onUnhealthy(FleetWorker worker) {
    if (followed != null) {
      followed.onUnhealthy(worker);
    }
  }

  @Override
  public void close() {
    if (followed != null) {
      followed.close();
    }
    router.close();
  }
}
