package io.kvasir.fleet.router.cost;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.load.LoadExchange;
import io.kvasir.fleet.load.LoadMessage;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.EngineMetrics;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.HitCorrection;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.booking.BookingOptions;
import io.kvasir.fleet.router.booking.BookingRouter;
import io.kvasir.fleet.router.booking.Candidates;
import io.kvasir.fleet.router.booking.ChosenTerms;
import io.kvasir.fleet.router.booking.CostTrace;
import io.kvasir.fleet.router.booking.Selection;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;
import io.kvasir.timing.ForwardPass;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Weighs matches, by block events, against loads, by polled metrics. With the shares
 *
 * <pre>
 * match   = matched blocks x tokensPerBlock / prompt tokens
 * active  = active blocks / total blocks
 * waiting = waiting requests / the most that wait at any candidate, 0 if none waits
 * </pre>
 *
 * the highest {@code 2 x match - active - waiting} wins; {@link CostPick} draws among equals. This
 * is the cost function of Dynamo's KV router before its pull request 1731, which predicts loads
 * instead. As there, placed requests count on top of a rank's metrics until its next metrics
 * arrive.
 *
 * <p>Thread-safe. Reading the metrics, choosing and counting are one step under this router's
 * monitor.
 */
public final class PolledRouter implements FleetRouter {

  private static final double MATCH_WEIGHT = 2;

  private final FleetRouterSetup setup;
  private final BookingRouter router;

  // Guarded by this.
  private final Map<RankId, EngineMetrics> metrics = new HashMap<>();

  /**
   * Makes a router without ranks.
   *
   * @param name the policy's name
   * @param index what the ranks hold; the router closes it
   * @param explain whether placements list the costs that were compared
   * @param setup how blocks are named, their size, and the clock
   */
  public PolledRouter(String name, PrefixIndex index, boolean explain, FleetRouterSetup setup) {
    this.setup = setup;
    this.router =
        new BookingRouter(
            name, index, this::select, BookingOptions.DEFAULT.withExplain(explain), setup);
  }

  private Selection select(Candidates candidates, FleetRequest request, CostTrace trace) {
    int mostWaiting = 0;
    for (int i = 0; i < candidates.size(); i++) {
      mostWaiting = Math.max(mostWaiting, metrics(candidates.rank(i)).waitingRequests());
    }
    CostPick pick = new CostPick(candidates.size(), request.id());
    for (int i = 0; i < candidates.size(); i++) {
      pick.add(cost(candidates, i, request, mostWaiting, trace));
    }
    int chosen = pick.lowest();
    ChosenTerms terms = new ChosenTerms();
    cost(candidates, chosen, request, mostWaiting, terms);
    return Selection.of(chosen, terms.terms());
  }

  private double cost(
      Candidates candidates, int i, FleetRequest request, int mostWaiting, CostTrace trace) {
    EngineMetrics load = metrics(candidates.rank(i));
    double match =
        share((long) candidates.matchedBlocks(i) * setup.tokensPerBlock(), request.inputTokens());
    double active = share(load.activeBlocks(), load.totalBlocks());
    double waiting = share(load.waitingRequests(), mostWaiting);
    trace.term(i, "match", -MATCH_WEIGHT * match);
    trace.term(i, "activeBlocks", active);
    trace.term(i, "waitingRequests", waiting);
    return -(MATCH_WEIGHT * match - active - waiting);
  }

  private EngineMetrics metrics(RankId rank) {
    return metrics.getOrDefault(rank, EngineMetrics.NONE);
  }

  private static double share(long part, long whole) {
    return whole == 0 ? 0 : (double) part / whole;
  }

  @Override
  public String name() {
    return router.name();
  }

  @Override
  public boolean readsTokens(FleetRequest request) {
    return router.readsTokens(request);
  }

  @Override
  public RouteOutcome route(FleetRequest request) {
    BlockHashes unused = request.hashes(setup.naming(), setup.tokensPerBlock()); // kept by it
    synchronized (this) {
      RouteOutcome outcome = router.route(request);
      if (outcome instanceof RouteOutcome.Placed placed) {
        countOnTop(request, placed.placement());
      }
      return outcome;
    }
  }

  private void countOnTop(FleetRequest request, Placement placement) {
    EngineMetrics load = metrics(placement.rank());
    long blocks = -Math.floorDiv(-(long) request.inputTokens(), setup.tokensPerBlock());
    metrics.put(
        placement.rank(),
        new EngineMetrics(
            load.activeBlocks() + blocks - placement.matchedBlocks(),
            load.totalBlocks(),
            load.waitingRequests() + 1));
  }

  @Override
  public synchronized void onMetrics(RankId rank, EngineMetrics reported) {
    metrics.put(rank, reported);
  }

  @Override
  public boolean onTokens(long attempt, int tokens) {
    return router.onTokens(attempt, tokens);
  }

  @Override
  public boolean onPrefillDone(long attempt) {
    return router.onPrefillDone(attempt);
  }

  @Override
  public boolean onAlive(long attempt) {
    return router.onAlive(attempt);
  }

  @Override
  public void onServed(long attempt, int cachedTokens) {
    router.onServed(attempt, cachedTokens);
  }

  @Override
  public HitCorrection correction(long workerId) {
    return router.correction(workerId);
  }

  @Override
  public boolean onFinished(long attempt, boolean success) {
    return router.onFinished(attempt, success);
  }

  @Override
  public boolean addRank(RankId rank, RankCapacity capacity) {
    return router.addRank(rank, capacity);
  }

  @Override
  public synchronized boolean removeRank(RankId rank) {
    metrics.remove(rank);
    return router.removeRank(rank);
  }

  @Override
  public synchronized RouteOutcome preview(FleetRequest request) {
    return router.preview(request);
  }

  @Override
  public PrefixIndex index() {
    return router.index();
  }

  @Override
  public void onBlocks(RankId rank, BlockEvent event) {
    router.onBlocks(rank, event);
  }

  @Override
  public void onForwardPass(RankId rank, ForwardPass pass) {
    router.onForwardPass(rank, pass);
  }

  @Override
  public void loads(PredictedLoads out) {
    router.loads(out);
  }

  @Override
  public @Nullable LoadExchange exchangeLoads(long routerId, Consumer<LoadMessage> out) {
    return router.exchangeLoads(routerId, out);
  }

  @Override
  public void close() {
    router.close();
  }
}
