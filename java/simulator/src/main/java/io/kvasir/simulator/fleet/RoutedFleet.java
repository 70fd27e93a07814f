package io.kvasir.simulator.fleet;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.router.EngineMetrics;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.Reason;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.fleet.router.trtllm.DisaggParams;
import io.kvasir.fleet.router.trtllm.KvCacheAwareFleetRouter;
import io.kvasir.fleet.router.trtllm.ServerDescription;
import io.kvasir.fleet.router.whatif.WhatIfRouter;
import io.kvasir.hash.HashFormat;
import io.kvasir.hash.HashedRequest;
import io.kvasir.hash.TrtllmHash;
import io.kvasir.model.RankId;
import io.kvasir.model.Request;
import io.kvasir.simulator.workload.Arrivals;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A fleet router over the workers of a replay.
 *
 * <p>Answers stream through the router, so it sees tokens and ends without delay. Block events and
 * metrics arrive after their delays, before the next request is routed. A request that the router
 * lets wait or refuses is an {@link Outcome}. A policy that chooses ranks names the rank of a
 * worker of several, which serves the request there and nowhere else. Confined to the thread that
 * drives the replay. Owns the router.
 */
public final class RoutedFleet implements FleetLayer {

  private final FleetSettings settings;
  private final HashFormat naming;
  private final int tokensPerBlock;
  private final FleetRouter router;
  private final @Nullable WhatIfRouter whatIf;
  private final List<WorkerBlocks> blocks = new ArrayList<>();
  private final PolledMetrics metrics;
  private final DelayedEvents blockEvents = new DelayedEvents();
  private final DelayedEvents streamed = new DelayedEvents();
  private final DelayedEvents joins = new DelayedEvents();
  private final Long2LongOpenHashMap attempts = new Long2LongOpenHashMap();
  private final Map<Reason, Long> decisions = new EnumMap<>(Reason.class);

  /** Prompts that a worker still computes, by worker, and the worker of each of them. */
  private final int[] prompts;

  private final Long2IntOpenHashMap prefilling = new Long2IntOpenHashMap();
  private final List<Outcome> outcomes = new ArrayList<>();
  private final LatencyTargets targets;
  private final boolean namesRanks;
  private int waiting;
  private long behindPrompts;
  private long nowNs;

  /**
   * Creates a router over idle workers.
   *
   * @param settings the workers and the router
   * @param naming hash format of the workers' pools
   * @param tokensPerBlock tokens of their blocks
   * @param ranks ranks of each worker
   * @param capacity what each rank can take
   * @param targets the times that every request asks for
   * @throws IllegalArgumentException if the router's args are wrong, it cannot follow blocks of
   *     that naming, or it chooses ranks by polled metrics and workers have several
   */
  public RoutedFleet(
      FleetSettings settings,
      HashFormat naming,
      int tokensPerBlock,
      int ranks,
      RankCapacity capacity,
      LatencyTargets targets) {
    if (settings.naming(naming) != naming) {
      throw new IllegalArgumentException(
          settings.router().name()
              + " needs blocks named "
              + settings.naming(naming).id()
              + ", not "
              + naming.id());
    }
    boolean choosesRanks = settings.router().choosesRanks();
    if (choosesRanks && settings.router().readsMetrics() && ranks != 1) {
      throw new IllegalArgumentException(
          settings.router().name() + " needs workers of 1 rank, not " + ranks);
    }
    this.namesRanks = choosesRanks && ranks > 1;
    this.targets = Objects.requireNonNull(targets, "targets");
    this.settings = settings;
    this.naming = naming;
    this.tokensPerBlock = tokensPerBlock;
    this.prompts = new int[settings.workers()];
    this.metrics =
        new PolledMetrics(
            settings.workers(), settings.metricIntervalNs(), settings.metricDelayNs());
    prefilling.defaultReturnValue(-1);
    FleetRouterSetup setup = new FleetRouterSetup(naming, tokensPerBlock, () -> nowNs, Map.of());
    FleetRouter made = settings.router().create(settings.args(), setup);
    this.whatIf =
        settings.whatIf().isEmpty()
            ? null
            : new WhatIfRouter(made, settings.whatIf(), defaults -> Map.of(), setup, null);
    this.router = whatIf == null ? made : whatIf;
    for (int worker = 0; worker < settings.workers(); worker++) {
      blocks.add(new WorkerBlocks(ranks));
      int joining = worker;
      joins.add(
          settings.returnNs().getOrDefault(worker, 0L), () -> join(made, joining, ranks, capacity));
    }
    joins.runUntil(0);
  }

  private void join(FleetRouter made, int worker, int ranks, RankCapacity capacity) {
    for (int rank = 0; rank < ranks; rank++) {
      RankId added = new RankId(worker, rank);
      ask(() -> router.addRank(added, capacity));
    }
    if (made instanceof KvCacheAwareFleetRouter follows) {
      follows.prepare(worker, new ServerDescription(tokensPerBlock, TrtllmHash.V1_BLOCK_KEY.id()));
    }
  }

  @Override
  public int workers() {
    return settings.workers();
  }

  @Override
  public boolean followsBlocks() {
    return settings.router().followsBlocks();
  }

  @Override
  public @Nullable Routed route(HashedRequest hashed, long atNs) {
    return route(hashed, Leg.WHOLE, FleetRequest.NO_WORKER, atNs);
  }

  /** As {@link #route(HashedRequest, long)}, for a part of a request. */
  @Nullable Routed route(HashedRequest hashed, Leg leg, long prefilledBy, long atNs) {
    catchUp(atNs);
    FleetRequest asked = describe(hashed, leg, prefilledBy);
    RouteOutcome outcome = ask(() -> router.route(asked));
    if (outcome instanceof RouteOutcome.Placed placed) {
      return placed(hashed, asked, placed.placement());
    }
    if (outcome instanceof RouteOutcome.Waiting waits) {
      waiting++;
      CompletableFuture<Void> unused =
          waits
              .outcome()
              .thenAccept(
                  later -> {
                    waiting--;
                    settle(hashed, asked, later);
                  });
    } else {
      settle(hashed, asked, outcome);
    }
    return null;
  }

  /** A part of a request as the router sees it. */
  FleetRequest describe(HashedRequest hashed, Leg leg, long prefilledBy) {
    Request request = hashed.request();
    FleetRequestBuilder asked =
        FleetRequest.builder(request.id(), Prompt.of(request.tokens()))
            .conversationId(request.conversationId())
            .scope(request.scope())
            .targets(targets)
            .prefilledBy(prefilledBy)
            .hashes(naming, tokensPerBlock, hashed.hashes());
    return leg.of(asked, true, 0).build();
  }

  /** The router, for previews after {@link #catchUp}. */
  FleetRouter router() {
    return router;
  }

  private void settle(HashedRequest hashed, FleetRequest asked, RouteOutcome outcome) {
    if (outcome instanceof RouteOutcome.Placed placed) {
      Routed routed = placed(hashed, asked, placed.placement());
      outcomes.add(new Outcome(hashed.request(), routed, ""));
    } else if (outcome instanceof RouteOutcome.Refused refused) {
      outcomes.add(new Outcome(hashed.request(), null, refused.message()));
    }
  }

  private Routed placed(HashedRequest hashed, FleetRequest asked, Placement placement) {
    Request request = hashed.request();
    int worker = (int) placement.rank().workerId();
    attempts.put(request.id(), placement.attempt());
    decisions.merge(placement.reason(), 1L, Long::sum);
    behindPrompts += prompts[worker]++ == 0 ? 0 : 1;
    prefilling.put(request.id(), worker);
    if (namesRanks) {
      int rank = placement.rank().dpRank();
      return routed(worker, hashed, request.toBuilder().targetRank(rank).relax(false));
    }
    if (placement.conversationId() == null) {
      return new Routed(worker, hashed);
    }
    DisaggParams params = DisaggParams.of(request).withConversation(asked, placement);
    return routed(worker, hashed, params.applyTo(request.toBuilder()));
  }

  private static Routed routed(int worker, HashedRequest hashed, Request.Builder atWorker) {
    return new Routed(worker, new HashedRequest(atWorker.build(), hashed.hashes()));
  }

  private void advance(long atNs) {
    for (long joinNs = joins.nextNs(); joinNs <= atNs; joinNs = joins.nextNs()) {
      pass(joinNs);
      joins.runUntil(joinNs);
    }
    pass(atNs);
  }

  private void pass(long atNs) {
    blockEvents.runUntil(atNs);
    streamed.runUntil(atNs);
    nowNs = atNs;
  }

  /** Passes everything that the router can know by now to it. */
  void catchUp(long atNs) {
    advance(atNs);
    if (settings.router().readsMetrics()) {
      metrics.answer(atNs, this::onMetrics);
    }
  }

  @Override
  public List<Outcome> outcomes(long atNs) {
    if (waiting > 0) {
      advance(atNs);
    }
    List<Outcome> settled = List.copyOf(outcomes);
    outcomes.clear();
    return settled;
  }

  @Override
  public long nextNs() {
    return waiting == 0 ? Arrivals.NEVER : Math.min(streamed.nextNs(), joins.nextNs());
  }

  private void onMetrics(int worker, EngineMetrics polled) {
    if (settings.returnNs().getOrDefault(worker, 0L) <= nowNs) {
      tell(() -> router.onMetrics(new RankId(worker, 0), polled));
    }
  }

  @Override
  public void onToken(Request request, int index, long atNs) {
    if (index > 0 && whatIf == null && !settings.router().choosesRanks()) {
      return; // policies that choose workers do not use tokens
    }
    streamed.add(
        atNs,
        () -> {
          endPrompt(request);
          nowNs = atNs;
          ask(() -> router.onTokens(attempts.get(request.id()), 1));
        });
  }

  /** The prompt of a request without an answer of its own has been computed, by now. */
  void onPromptComputed(Request request, long atNs) {
    advance(atNs);
    endPrompt(request);
    ask(() -> router.onPrefillDone(attempts.get(request.id())));
  }

  @Override
  public void onEnded(Request request, boolean success, long atNs) {
    streamed.add(
        atNs,
        () -> {
          endPrompt(request);
          nowNs = atNs;
          ask(() -> router.onFinished(attempts.remove(request.id()), success));
        });
    streamed.runUntil(atNs);
  }

  private void endPrompt(Request request) {
    int worker = prefilling.remove(request.id());
    if (worker >= 0) {
      prompts[worker]--;
    }
  }

  @Override
  public void onIterated(int worker, IteratedWorker ran, long endNs) {
    if (settings.router().readsMetrics()) {
      metrics.publish(worker, ran.metrics(), endNs);
    }
    if (!followsBlocks()) {
      return;
    }
    if (settings.router().choosesRanks()) {
      ran.drainBlocks((rank, event) -> onBlocks(new RankId(worker, rank), event, endNs));
    } else {
      WorkerBlocks held = blocks.get(worker);
      ran.drainBlocks(held);
      held.take().forEach(event -> onBlocks(RankId.anyOf(worker), event, endNs));
    }
  }

  /** Passes an event to the router after its delay. */
  void onBlocks(RankId rank, BlockEvent event, long atNs) {
    blockEvents.add(atNs + settings.eventDelayNs(), () -> tell(() -> router.onBlocks(rank, event)));
  }

  @Override
  public FleetResult result() {
    Map<String, Long> byName = new LinkedHashMap<>();
    decisions.forEach((reason, count) -> byName.put(reason.id(), count));
    return new FleetResult(
        settings, byName, behindPrompts, whatIf == null ? List.of() : whatIf.counts());
  }

  /** Calls the router, whose exceptions name it if it is a plug-in. */
  private <T> T ask(Supplier<T> call) {
    try {
      return call.get();
    } catch (RuntimeException | LinkageError e) {
      List<FleetRouterProvider> routers = new ArrayList<>(List.of(settings.router()));
      routers.addAll(settings.whatIf());
      FleetRouterFailure named = FleetRouterFailure.of(routers, e);
      if (named != null) {
        throw named;
      }
      throw e;
    }
  }

  private void tell(Runnable call) {
    ask(
        () -> {
          call.run();
          return true;
        });
  }

  @Override
  public void close() {
    tell(router::close);
  }
}
