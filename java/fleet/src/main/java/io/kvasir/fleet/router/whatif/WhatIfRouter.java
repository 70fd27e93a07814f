package io.kvasir.fleet.router.whatif;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.EngineMetrics;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RankCapacity;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A router that also asks other policies where they would place each request, and keeps count of
 * what they would find there.
 *
 * <p>The actual router alone decides. Each other policy places on virtual ranks of its own, with
 * the capacities of the actual ones, and learns of their blocks at once. Its requests give their
 * first tokens and end when the actual ones do, so the counts say where requests go and what they
 * find, and nothing of times. Virtual ranks hold prompts, not answers; for comparison, the actual
 * router's placements are counted on virtual ranks too.
 *
 * <p>Thread-safe. Other policies cost their own time in each call, under one lock.
 */
public final class WhatIfRouter implements FleetRouter {

  private static final Logger LOG = LoggerFactory.getLogger(WhatIfRouter.class);

  private final FleetRouter actual;
  private final VirtualRanks actualRanks;
  private final List<Other> others = new ArrayList<>();
  private final Object lock = new Object();

  /** The other policies' attempts, by the actual one. */
  private final Long2ObjectOpenHashMap<long[]> attempts = new Long2ObjectOpenHashMap<>();

  /** Another policy. Its events are those of its virtual ranks. */
  private static final class Other {
    final FleetRouter router;
    final VirtualRanks ranks;
    final boolean follows;

    Other(FleetRouterProvider provider, FleetRouterSetup setup) {
      router = provider.create(Map.of(), setup);
      ranks = new VirtualRanks(provider.name(), setup);
      follows = provider.followsBlocks() && provider.choosesRanks();
    }

    /** Returns the attempt; 0 if the request is not placed. A defect here must not do harm. */
    long placeOrNot(FleetRequest request) {
      try {
        return place(request);
      } catch (RuntimeException e) {
        LOG.warn("{} could not say where it would place {}", router.name(), request, e);
        ranks.refused();
        return 0;
      }
    }

    private long place(FleetRequest request) {
      RouteOutcome outcome = router.route(request);
      if (outcome instanceof RouteOutcome.Placed placed) {
        ranks.placed(
            request,
            placed.placement().rank(),
            (rank, event) -> {
              if (follows) {
                router.onBlocks(rank, event);
              }
            });
        return placed.placement().attempt();
      }
      if (outcome instanceof RouteOutcome.Waiting waiting) {
        waiting.outcome().cancel(false);
      }
      ranks.refused();
      return 0;
    }
  }

  /**
   * Wraps a router.
   *
   * @param actual the router that decides, without ranks; closed with this one
   * @param others the other policies, which get their default settings
   * @param setup how blocks are named, their size, and the clock
   * @throws IllegalArgumentException if one of the others reads polled metrics, which virtual ranks
   *     have not
   */
  public WhatIfRouter(
      FleetRouter actual, List<FleetRouterProvider> others, FleetRouterSetup setup) {
    this.actual = Objects.requireNonNull(actual, "actual");
    this.actualRanks = new VirtualRanks(actual.name(), setup);
    for (FleetRouterProvider provider : others) {
      if (provider.readsMetrics()) {
        throw new IllegalArgumentException(
            provider.name() + " needs metrics of engines, which virtual ranks do not have");
      }
      this.others.add(new Other(provider, setup));
    }
  }

  /** {@return the counts of the actual router, and of the others in the order they were given} */
  public List<WhatIfCounts> counts() {
    synchronized (lock) {
      List<WhatIfCounts> counts = new ArrayList<>();
      counts.add(actualRanks.counts());
      others.forEach(other -> counts.add(other.ranks.counts()));
      return counts;
    }
  }

  @Override
  public String name() {
    return actual.name();
  }

  @Override
  public boolean readsTokens(FleetRequest request) {
    return true;
  }

  @Override
  public RouteOutcome route(FleetRequest request) {
    RouteOutcome outcome = actual.route(request);
    long[] placed = new long[others.size()];
    synchronized (lock) {
      for (int i = 0; i < placed.length; i++) {
        placed[i] = others.get(i).placeOrNot(request);
      }
    }
    if (outcome instanceof RouteOutcome.Waiting waiting) {
      CompletableFuture<RouteOutcome> unused =
          waiting.outcome().whenComplete((later, failure) -> settle(request, later, placed));
    } else {
      settle(request, outcome, placed);
    }
    return outcome;
  }

  private void settle(FleetRequest request, @Nullable RouteOutcome outcome, long[] placed) {
    synchronized (lock) {
      if (outcome instanceof RouteOutcome.Placed actually) {
        actualRanks.placed(request, actually.placement().rank(), (rank, event) -> {});
        attempts.put(actually.placement().attempt(), placed);
      } else {
        actualRanks.refused();
        finish(placed, false);
      }
    }
  }

  private void finish(long @Nullable [] placed, boolean success) {
    for (int i = 0; placed != null && i < placed.length; i++) {
      if (placed[i] != 0) {
        others.get(i).router.onFinished(placed[i], success);
      }
    }
  }

  @Override
  public @Nullable RouteOutcome preview(FleetRequest request) {
    return actual.preview(request);
  }

  @Override
  public boolean onTokens(long attempt, int tokens) {
    synchronized (lock) {
      long[] placed = attempts.get(attempt);
      for (int i = 0; placed != null && i < placed.length; i++) {
        if (placed[i] != 0) {
          others.get(i).router.onTokens(placed[i], tokens);
        }
      }
    }
    return actual.onTokens(attempt, tokens);
  }

  @Override
  public boolean onPrefillDone(long attempt) {
    synchronized (lock) {
      long[] placed = attempts.get(attempt);
      for (int i = 0; placed != null && i < placed.length; i++) {
        if (placed[i] != 0) {
          others.get(i).router.onPrefillDone(placed[i]);
        }
      }
    }
    return actual.onPrefillDone(attempt);
  }

  @Override
  public boolean onFinished(long attempt, boolean success) {
    synchronized (lock) {
      finish(attempts.remove(attempt), success);
    }
    return actual.onFinished(attempt, success);
  }

  @Override
  public boolean addRank(RankId rank, RankCapacity capacity) {
    synchronized (lock) {
      actualRanks.add(rank, capacity.totalKvBlocks());
      for (Other other : others) {
        other.ranks.add(rank, capacity.totalKvBlocks());
        other.router.addRank(rank, capacity);
      }
    }
    return actual.addRank(rank, capacity);
  }

  @Override
  public boolean removeRank(RankId rank) {
    synchronized (lock) {
      actualRanks.remove(rank);
      for (Other other : others) {
        other.ranks.remove(rank);
        other.router.removeRank(rank);
      }
    }
    return actual.removeRank(rank);
  }

  @Override
  public void onBlocks(RankId rank, BlockEvent event) {
    actual.onBlocks(rank, event);
  }

  @Override
  public @Nullable PrefixIndex index() {
    return actual.index();
  }

  @Override
  public void onMetrics(RankId rank, EngineMetrics metrics) {
    actual.onMetrics(rank, metrics);
  }

  @Override
  public void loads(PredictedLoads out) {
    actual.loads(out);
  }

  @Override
  public void close() {
    actual.close();
    others.forEach(other -> other.router.close());
  }
}
