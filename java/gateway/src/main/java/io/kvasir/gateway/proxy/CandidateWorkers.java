package io.kvasir.gateway.proxy;

import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleet.Target;
import io.kvasir.gateway.worker.WorkerRole;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The workers that may serve a request: the owner of the response that it continues, or else those
 * that have its model, take requests, and have not failed it.
 *
 * <p>Changed on the request's event loop only, while no other thread reads.
 */
final class CandidateWorkers {

  private final Inbound inbound;
  private final List<FleetWorker> all;
  private final @Nullable Target owner;
  private final Services services;
  private final Set<FleetWorker> tried = new HashSet<>();

  /** Workers that had left the fleet at the last filter. */
  private int departures;

  /**
   * Begins without failed attempts.
   *
   * @param all the workers that may serve the request
   * @param owner the target that must serve it; null for any
   */
  CandidateWorkers(
      Inbound inbound, List<FleetWorker> all, @Nullable Target owner, Services services) {
    this.inbound = inbound;
    this.all = all;
    this.owner = owner;
    this.services = services;
  }

  /** The workers that may serve the request, those that have failed it too. */
  List<FleetWorker> all() {
    return all;
  }

  /** The target that must serve the request; null for any. */
  @Nullable Target owner() {
    return owner;
  }

  /** Whether there is an owner that takes no requests now. */
  boolean ownerRefuses() {
    return owner != null && !owner.worker().serves(panics(), services.nowNs());
  }

  /** An attempt at a worker failed; the request does not return there. */
  void onFailed(FleetWorker worker) {
    tried.add(worker);
  }

  /** The request may return to a worker: there is no other. */
  void onSpared(FleetWorker worker) {
    tried.remove(worker);
  }

  /**
   * Whether a worker is left for another attempt.
   *
   * @param split whether it may answer for another worker
   */
  boolean hasOther(boolean split) {
    return owner == null && (hasOther(Leg.WHOLE) || (split && hasOther(Leg.DECODE)));
  }

  /** Whether a worker is left that can take a part of the request. */
  boolean hasOther(Leg leg) {
    return !left(leg).isEmpty();
  }

  /** Whether workers are left that serve whole requests, and none that answers for others. */
  boolean isOnlyWhole() {
    return !hasOther(Leg.DECODE) && hasOther(Leg.WHOLE);
  }

  /**
   * Whether a worker's role lets it serve a part of the request: workers without a role have no
   * part in transfers, and those of some protocols cannot answer without one.
   */
  private boolean serves(FleetWorker worker, Leg leg) {
    return switch (leg) {
      case PREFILL -> true;
      case DECODE -> worker.role() == WorkerRole.DECODE;
      case WHOLE ->
          worker.servesWhole() || !inbound.endpoint().generates() || inbound.passesTransfer();
    };
  }

  private boolean panics() {
    return services.fleets().ejection().panics(all, inbound.model());
  }

  private boolean isLeft(FleetWorker worker, boolean panics, long nowNs) {
    return !tried.contains(worker)
        && worker.takes(panics, nowNs)
        && (inbound.model().isEmpty() || worker.models().contains(inbound.model()));
  }

  /** The workers that are left for a leg. */
  private List<FleetWorker> left(Leg leg) {
    long nowNs = services.nowNs();
    boolean panics = panics();
    List<FleetWorker> left = new ArrayList<>(all.size());
    for (FleetWorker worker : all) {
      if (serves(worker, leg) && isLeft(worker, panics, nowNs)) {
        left.add(worker);
      }
    }
    return left;
  }

  /** Those of the workers that are left for a leg whose share the request would exceed. */
  private Set<FleetWorker> beyondShare(Leg leg) {
    long nowNs = System.nanoTime();
    if (!services.shares().differ(all, nowNs)) {
      return Set.of();
    }
    String conversation = inbound.conversation().id();
    String key = conversation == null ? inbound.id() : conversation;
    return services.shares().excluded(left(leg), key, nowNs);
  }

  /** The worker with the fewest requests of those that are left for a leg; null if none is. */
  @Nullable FleetWorker leastLoaded(Leg leg) {
    Set<FleetWorker> excluded = beyondShare(leg);
    return left(leg).stream()
        .filter(worker -> !excluded.contains(worker))
        .min(Comparator.comparingInt(worker -> worker.membership().activeRequests()))
        .orElse(null);
  }

  /** Chooses the owner of what the request names, or else the worker with the fewest requests. */
  void chooseByLoad(Leg leg, Placing.Result result) {
    FleetWorker least = owner == null ? leastLoaded(leg) : null;
    if (ownerRefuses()) {
      result.onRefused(Refusals.ownerGone());
    } else if (owner != null) {
      int rank = BookedAttempt.steered(owner, inbound);
      result.onChosen(ChosenTarget.byLoad(owner.worker(), rank, "explicit"));
    } else if (least != null) {
      result.onChosen(ChosenTarget.byLoad(least, ModelFleet.ANY_RANK, "load"));
    } else {
      result.onRefused(Refusals.noWorker(all));
    }
  }

  /** Whether workers have left a fleet since its last filter: others may have come for them. */
  boolean haveLeft(ModelFleet among) {
    return among.departures() != departures;
  }

  /** The ranks of a fleet that may serve a part of the request. */
  RankFilter filter(ModelFleet among, Leg leg) {
    departures = among.departures();
    if (owner != null) {
      return among.pin(owner);
    }
    Set<FleetWorker> excluded = new HashSet<>(tried);
    excluded.addAll(beyondShare(leg));
    for (FleetWorker worker : among.workers()) {
      if (!serves(worker, leg)) {
        excluded.add(worker);
      }
    }
    return among.without(excluded, inbound.model(), panics(), services.nowNs());
  }
}
