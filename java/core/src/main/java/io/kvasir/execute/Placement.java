package io.kvasir.execute;

import io.kvasir.hash.HashedRequest;
import io.kvasir.model.PrefixMatches;
import io.kvasir.model.RankState;
import io.kvasir.model.Request;
import io.kvasir.pool.PrefixMatcher;
import io.kvasir.pool.ProbeBatch;
import io.kvasir.route.AdpRouter;
import io.kvasir.route.Assignment;
import io.kvasir.route.Decision;
import it.unimi.dsi.fastutil.longs.LongSet;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * From the waiting queue to the ranks: pops up to the room there is, matches, asks the router,
 * hands over, and returns what the router left over to the front of the queue.
 *
 * <p>Confined to the loop's thread.
 */
final class Placement {

  private final RankExecutor[] executors;
  private final AdpRouter router;
  private final PrefixMatcher matcher;
  private final WaitingQueue queue;
  private final RequestListener listener;
  private final int maxActiveRequests;
  private final int tokensPerBlock;
  private final boolean matching;

  private final int[] activeRequests;
  private final List<HashedRequest> popped = new ArrayList<>();
  private final ProbeBatch probe = new ProbeBatch();

  Placement(
      RankExecutor[] executors,
      AdpRouter router,
      PrefixMatcher matcher,
      WaitingQueue queue,
      RequestListener listener) {
    this.executors = executors;
    this.router = router;
    this.matcher = matcher;
    this.queue = queue;
    this.listener = listener;
    ExecutorOptions options = executors[0].options();
    this.maxActiveRequests = options.maxActiveRequests();
    this.tokensPerBlock = executors[0].tokensPerBlock();
    this.matching = router.needsPrefixMatches() && options.enableBlockReuse();
    this.activeRequests = new int[executors.length];
  }

  /** Hands waiting requests to ranks; their ids are taken out of {@code waitingIds}. */
  void place(LongSet waitingIds, long nowNs) {
    long room = (long) executors.length * maxActiveRequests - totalActive(executors);
    for (int rank = 0; rank < executors.length; rank++) {
      activeRequests[rank] = executors[rank].activeRequests();
    }
    queue.pop((int) Math.min(room, Integer.MAX_VALUE), maxActiveRequests, activeRequests, popped);
    if (popped.isEmpty()) {
      return;
    }
    BitSet placed = new BitSet(popped.size());
    try {
      handOver(route(), placed, waitingIds, nowNs);
      requireProgress(placed);
    } finally {
      // Also when a router or a listener fails: no request is lost.
      returnLeftovers(placed, waitingIds);
      popped.clear();
    }
  }

  private void handOver(Assignment assignment, BitSet placed, LongSet waitingIds, long nowNs) {
    for (Decision decision : assignment.decisions()) {
      HashedRequest request = popped.get(decision.requestIndex());
      waitingIds.remove(request.request().id());
      listener.onPlaced(decision, nowNs);
      executors[decision.rank()].submit(request, nowNs);
      placed.set(decision.requestIndex());
    }
  }

  private Assignment route() {
    List<RankState> states = new ArrayList<>(executors.length);
    for (RankExecutor executor : executors) {
      states.add(executor.state(router.loadMetric()));
    }
    List<Request> requests = new ArrayList<>(popped.size());
    for (int i = 0; i < popped.size(); i++) {
      requests.add(popped.get(i).request());
    }
    return router.route(
        states, requests, matching ? match() : PrefixMatches.NONE, maxActiveRequests);
  }

  /** What each rank holds of each popped prompt; the last token is always computed. */
  private PrefixMatches match() {
    probe.clear();
    for (int i = 0; i < popped.size(); i++) {
      HashedRequest request = popped.get(i);
      int blocks = Math.max(0, request.request().promptTokens() - 1) / tokensPerBlock;
      probe.add(request.hashes().sequence(), blocks);
    }
    return matcher.match(probe);
  }

  private void requireProgress(BitSet placed) {
    if (placed.isEmpty() && totalActive(executors) == 0) {
      throw new IllegalStateException(
          "the router "
              + router.name()
              + " places none of "
              + popped.size()
              + " requests on idle ranks");
    }
  }

  private void returnLeftovers(BitSet placed, LongSet waitingIds) {
    if (placed.cardinality() == popped.size()) {
      return;
    }
    List<HashedRequest> leftovers = new ArrayList<>();
    for (int i = placed.nextClearBit(0); i < popped.size(); i = placed.nextClearBit(i + 1)) {
      leftovers.add(popped.get(i));
      waitingIds.add(popped.get(i).request().id());
    }
    queue.pushFront(leftovers);
  }

  static int totalActive(RankExecutor[] executors) {
    int total = 0;
    for (RankExecutor executor : executors) {
      total += executor.activeRequests();
    }
    return total;
  }
}
