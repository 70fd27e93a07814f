package io.kvasir.fleet.router;

import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.RouteOutcome.Placed;
import io.kvasir.fleet.router.RouteOutcome.Refused;
import io.kvasir.model.Checks;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Base of the policies that choose a worker and leave the rank to the worker's own router. It keeps
 * the workers in the order in which they were added, the load of each, the attempts in flight,
 * whose turn it is among equals, and the lock that guards all of it.
 *
 * <p>A worker exists from its first rank to its last one. A worker that comes back is a new one:
 * its earlier attempts have ended.
 *
 * @param <W> what the policy keeps of a worker
 */
public abstract class WorkerRouter<W extends Worker> implements FleetRouter {

  /** Guards everything below, the workers' fields and what a policy adds. */
  private final Object lock = new Object();

  private final Long2ObjectLinkedOpenHashMap<W> workers = new Long2ObjectLinkedOpenHashMap<>();
  private final Long2ObjectOpenHashMap<Attempt<W>> attempts = new Long2ObjectOpenHashMap<>();
  private long lastAttempt;
  private long turn;

  /**
   * A request in flight, its weight in the policy's unit, and what to do once it is served, or
   * null.
   */
  private record Attempt<W>(W worker, long weight, @Nullable Runnable onServed) {}

  /** Makes a router without workers. */
  protected WorkerRouter() {}

  /**
   * Makes what the policy keeps of a worker. Called under the lock.
   *
   * @param workerId the worker's id
   * @return the worker, without load
   */
  protected abstract W newWorker(long workerId);

  /**
   * Called under the lock when a worker's last rank has been removed; its attempts have ended.
   *
   * @param worker the worker
   */
  protected void onRemoved(W worker) {}

  @Override
  public final boolean addRank(RankId rank, RankCapacity capacity) {
    synchronized (lock) {
      W worker = workers.get(rank.workerId());
      if (worker == null) {
        worker = newWorker(rank.workerId());
        workers.put(rank.workerId(), worker);
      }
      return worker.ranks().add(rank);
    }
  }

  @Override
  public final boolean removeRank(RankId rank) {
    synchronized (lock) {
      W worker = workers.get(rank.workerId());
      if (worker == null || !worker.ranks().remove(rank)) {
        return false;
      }
      if (worker.ranks().isEmpty()) {
        workers.remove(rank.workerId());
        attempts.values().removeIf(attempt -> attempt.worker() == worker);
        onRemoved(worker);
      }
      return true;
    }
  }

  @Override
  public final boolean onTokens(long attempt, int tokens) {
    Checks.atLeast("tokens", tokens, 1);
    return onPrefillDone(attempt);
  }

  @Override
  public final boolean onPrefillDone(long attempt) {
    synchronized (lock) {
      return attempts.containsKey(attempt);
    }
  }

  @Override
  public final boolean onFinished(long attempt, boolean success) {
    synchronized (lock) {
      Attempt<W> ended = attempts.remove(attempt);
      if (ended == null) {
        return false;
      }
      ended.worker().release(ended.weight());
      if (success && ended.onServed() != null) {
        ended.onServed().run();
      }
    }
    return true;
  }

  @Override
  public final void loads(PredictedLoads out) {
    synchronized (lock) {
      List<W> ascending = new ArrayList<>(workers.values());
      ascending.sort(Comparator.comparing(Worker::id));
      out.clear(ascending.size());
      ascending.forEach(worker -> out.add(worker.id(), 0, 0, 0, worker.activeRequests(), 0));
    }
  }

  /**
   * The load that this router has placed on a worker.
   *
   * @param workerId the worker's id
   * @return requests, tokens or characters, by policy; 0 if the worker is unknown
   */
  public final long load(long workerId) {
    synchronized (lock) {
      W worker = workers.get(workerId);
      return worker == null ? 0 : worker.load();
    }
  }

  /** {@return the lock that guards the router} */
  protected final Object lock() {
    return lock;
  }

  /**
   * Finds a worker. Under the lock.
   *
   * @param workerId its id
   * @return the worker, or null
   */
  protected final @Nullable W worker(long workerId) {
    return workers.get(workerId);
  }

  /**
   * All workers. O(workers). Under the lock.
   *
   * @return a copy, in the order in which they were added
   */
  protected final List<W> workers() {
    return new ArrayList<>(workers.values());
  }

  /**
   * The workers that may serve a request. O(workers). Under the lock.
   *
   * @param filter the request's filter
   * @return a copy, in the order in which they were added; empty if there is none
   */
  protected final List<W> candidates(RankFilter filter) {
    List<W> candidates = workers();
    candidates.removeIf(worker -> !worker.isAllowedBy(filter));
    return candidates;
  }

  /**
   * Why there is no candidate. Under the lock.
   *
   * @param filter the request's filter
   * @return the refusal
   */
  protected final Refused noCandidate(RankFilter filter) {
    Long pinned = filter.pinnedWorker();
    if (pinned != null) {
      W worker = workers.get((long) pinned);
      return new Refused(
          worker == null || !worker.isPinnedBy(filter)
              ? Refusal.PINNED_UNKNOWN
              : Refusal.PINNED_NOT_ALLOWED);
    }
    return new Refused(
        Refusal.NO_ENDPOINT,
        workers.isEmpty() ? "no worker is available" : "every worker is excluded or not allowed");
  }

  /**
   * Takes the next turn. Under the lock.
   *
   * @return the number of turns taken before
   */
  protected final long takeTurn() {
    return turn++;
  }

  /**
   * The candidate of the lowest cost. Equal ones take turns; a choice takes one turn even without a
   * tie, but none if the request demands its worker. Under the lock.
   *
   * @param filter the request's filter
   * @param candidates the candidates, at least one
   * @param cost the cost of each
   * @param <T> what describes a candidate
   * @return the candidate
   */
  protected final <T> T cheapest(
      RankFilter filter, List<T> candidates, ToDoubleFunction<? super T> cost) {
    if (filter.isPinned()) {
      return candidates.get(0);
    }
    List<T> tied = new ArrayList<>();
    double lowest = 0;
    for (T candidate : candidates) {
      double value = cost.applyAsDouble(candidate);
      if (tied.isEmpty() || value < lowest) {
        tied.clear();
        tied.add(candidate);
        lowest = value;
      } else if (value == lowest) {
        tied.add(candidate);
      }
    }
    return tied.get((int) (takeTurn() % tied.size()));
  }

  /**
   * Books a request on a worker. Under the lock.
   *
   * @param worker the worker
   * @param weight the load that the request adds, in the policy's unit
   * @param onServed called under the lock once the request is served; null for nothing
   * @return the attempt's number
   */
  protected final long book(W worker, long weight, @Nullable Runnable onServed) {
    worker.book(weight);
    attempts.put(++lastAttempt, new Attempt<>(worker, weight, onServed));
    return lastAttempt;
  }

  /**
   * Books a request on a worker, for policies that look neither at prefixes nor at conversations.
   * Under the lock.
   *
   * @param request the request
   * @param worker the worker
   * @param weight the load that the request adds, in the policy's unit
   * @param reason why this worker
   * @param eligible number of candidates
   * @return the placement
   */
  protected final Placed placed(
      FleetRequest request, W worker, long weight, Reason reason, int eligible) {
    Reason why = reasonFor(request, reason);
    return new Placed(
        new Placement(
            book(worker, weight, null),
            worker.id(),
            why,
            null,
            false,
            0,
            0,
            eligible,
            0,
            Double.NaN,
            Map.of(),
            List.of()));
  }

  /**
   * The reason for a choice.
   *
   * @param request the request
   * @param reason the policy's reason
   * @return {@link Reason#EXPLICIT} if the request demands its worker, else the policy's reason
   */
  protected static Reason reasonFor(FleetRequest request, Reason reason) {
    return request.filter().isPinned() ? Reason.EXPLICIT : reason;
  }
}
