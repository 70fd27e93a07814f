package io.kvasir.engine.execute;

import io.kvasir.engine.adp.AdpRouter;
import io.kvasir.engine.adp.Assignment;
import io.kvasir.engine.adp.Decision;
import io.kvasir.engine.adp.RankState;
import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.engine.pool.ProbeBatch;
import io.kvasir.hash.ContinuedPrompts;
import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Places waiting requests on the live ranks: pops them up to the available room, matches and routes
 * them, passes them to their ranks, and returns leftovers to the front of the queue.
 *
 * <p>Confined to the loop's thread.
 */
final class BatchPlacement {

  private static final int MOST_CONVERSATIONS = 1 << 16;

  private final LiveRanks ranks;
  private final AdpRouter router;
  private final RankAccess rankAccess;
  private final WaitingRequests waiting;
  private final RequestListener listener;
  private final int maxActiveRequests;
  private final int tokensPerBlock;
  private final boolean matching;

  /** Conversations of requests without ids; null if the router does not read them. */
  private final @Nullable ContinuedPrompts prompts;

  /** Whether the last batch left requests over. */
  private boolean leftSome;

  private final int[] activeRequests;
  private final List<PlacedRequest> popped = new ArrayList<>();
  private final ProbeBatch probe = new ProbeBatch();

  BatchPlacement(
      LiveRanks ranks,
      AdpRouter router,
      RankAccess rankAccess,
      ExecutorOptions options,
      int tokensPerBlock,
      WaitingRequests waiting,
      RequestListener listener) {
    this.ranks = ranks;
    this.router = router;
    this.rankAccess = rankAccess;
    this.waiting = waiting;
    this.listener = listener;
    this.maxActiveRequests = options.maxActiveRequests();
    this.tokensPerBlock = tokensPerBlock;
    this.matching = router.needsPrefixMatches() && options.enableBlockReuse();
    this.prompts =
        matching && router.readsConversations() ? new ContinuedPrompts(MOST_CONVERSATIONS) : null;
    this.activeRequests = new int[ranks.count()];
  }

  /**
   * Passes waiting requests to ranks. A rank whose device turns out to be lost is retired first.
   */
  void place(long nowNs) {
    ranks.settle(nowNs);
    if (waiting.isEmpty() || room() < 1) {
      return;
    }
    List<RankState> states = rankAccess.states(nowNs);
    ranks.settle(nowNs);
    pop(states);
    if (popped.isEmpty()) {
      return;
    }
    BitSet placed = new BitSet(popped.size());
    try {
      handOver(route(states), placed, nowNs);
      requireProgress(placed);
    } finally {
      // Even if the router or the listener fails, no request is lost.
      returnLeftovers(placed);
      popped.clear();
    }
  }

  private long room() {
    return ranks.capacity() - ranks.activeRequests();
  }

  /**
   * Pops requests by the room in the states, which may count more requests than the executors have.
   */
  private void pop(List<RankState> states) {
    Arrays.fill(activeRequests, maxActiveRequests); // a retired rank has no room
    long room = ranks.capacity();
    for (RankState state : states) {
      activeRequests[state.rank()] = state.activeRequests();
      room -= state.activeRequests();
    }
    int most = leftSome ? router.mostRequestsAfterLeftovers() : Integer.MAX_VALUE;
    int maxCount = (int) Math.max(0, Math.min(room, most));
    waiting.pop(maxCount, maxActiveRequests, activeRequests, popped);
  }

  private void handOver(Assignment assignment, BitSet placed, long nowNs) {
    for (Decision decision : assignment.decisions()) {
      PlacedRequest request = popped.get(decision.requestIndex());
      waiting.handOver(request);
      listener.onPlaced(decision, nowNs);
      WorkerRank rank = ranks.rank(decision.rank());
      request.expectedTokens = decision.matchedTokens();
      if (matching && router.readsWork()) {
        request.expectedTokens = Math.max(request.expectedTokens, rank.pendingTokens(request));
      }
      String unservable = rank.unservable(request.request);
      if (unservable == null) {
        rank.accept(request);
      } else {
        listener.onRejected(request.request, unservable, nowNs);
      }
      placed.set(decision.requestIndex());
    }
  }

  private Assignment route(List<RankState> states) {
    List<Request> requests = new ArrayList<>(popped.size());
    for (int i = 0; i < popped.size(); i++) {
      requests.add(popped.get(i).request);
    }
    PrefixMatches matches = matching ? match() : PrefixMatches.NONE;
    recognise(matches);
    Assignment assignment = router.route(states, requests, matches, maxActiveRequests);
    remember(matches, assignment);
    rankAccess.routed(states, popped, matches, assignment);
    return assignment;
  }

  /**
   * Matches each popped prompt on each rank. The last token is never matched, because it is always
   * computed.
   */
  private PrefixMatches match() {
    probe.clear();
    for (int i = 0; i < popped.size(); i++) {
      PlacedRequest request = popped.get(i);
      int blocks = Math.max(0, request.promptTokens - 1) / tokensPerBlock;
      probe.add(request.hashed.hashes().sequence(), blocks);
    }
    return rankAccess.matches(probe, popped);
  }

  /** Finds the conversations of popped requests without ids. */
  private void recognise(PrefixMatches matches) {
    if (prompts == null || matches == PrefixMatches.NONE) {
      return;
    }
    for (int i = 0; i < popped.size(); i++) {
      PlacedRequest request = popped.get(i);
      if (request.request.conversationId() == null) {
        matches.setConversation(i, prompts.key(request.hashed.hashes().sequence()));
      }
    }
  }

  private void remember(PrefixMatches matches, Assignment assignment) {
    if (prompts == null) {
      return;
    }
    for (Decision decision : assignment.decisions()) {
      long key = matches.conversation(decision.requestIndex());
      if (key != ContinuedPrompts.NONE) {
        prompts.placed(key, popped.get(decision.requestIndex()).hashed.hashes().sequence());
      }
    }
  }

  private void requireProgress(BitSet placed) {
    boolean idle = ranks.activeRequests() == 0 && ranks.nextTransferEndNs() == AdpLoop.NEVER;
    if (placed.isEmpty() && idle) {
      throw new IllegalStateException(
          "the router "
              + router.name()
              + " places none of "
              + popped.size()
              + " requests on idle ranks");
    }
  }

  private void returnLeftovers(BitSet placed) {
    leftSome = placed.cardinality() < popped.size();
    if (!leftSome) {
      return;
    }
    List<PlacedRequest> leftovers = new ArrayList<>();
    for (int i = placed.nextClearBit(0); i < popped.size(); i = placed.nextClearBit(i + 1)) {
      leftovers.add(popped.get(i));
    }
    waiting.putBack(leftovers);
  }
}
