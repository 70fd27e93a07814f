package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Digest64;
import io.kvasir.model.Request;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Keeps each conversation on the rank that served its first turn, and deals out the others.
 *
 * <p>Decides as TensorRT-LLM's conversation-aware ADP router does. It differs where a rank has been
 * retired, whose conversations are bound anew, and where occupancy is known: a rank that cannot
 * hold a request is passed over while another can, without losing its conversation.
 *
 * <p>Not thread-safe. Between calls it keeps the bindings of the most recent conversations and
 * whose turn it is.
 */
public final class ConversationAdpRouter implements AdpRouter {

  /*
   * A batch is placed in two steps.
   *
   * 1. A request that names a rank with room goes there and binds its conversation, strict ones
   *    first. If the conversation is bound already, the named rank is ignored.
   * 2. The rest, in the same order:
   *    - a bound conversation goes home while its rank is below the hard cap (not the soft target:
   *      a missed prefix costs more than some imbalance) and becomes the most recently used;
   *    - what is left (new, without a conversation, or home full) goes where the placement says,
   *      among ranks below the soft target; if none is, to the rank with the fewest requests. An
   *      unbound conversation is bound there; one whose home is full keeps its home.
   *
   * Nothing is left over: whoever asks for more than the ranks' hard caps allow gets it placed.
   */

  private final double fairShareMultiplier;
  private final int maxSessions;
  private final NewConversationPlacement placement;
  private final ConversationBindings bindings;
  private int cursor;

  private final PlacementBatch batch;
  private final RankLoads ranks;

  /**
   * Makes a router. As upstream's, it takes the nearest value where one is out of range;
   * configurations are checked before.
   *
   * @param ranks ranks of the worker
   * @param fairShareMultiplier how far above its fair share of requests a rank may go with new
   *     conversations; at least 1 is used
   * @param maxSessions conversations that are remembered; at least 1 is used
   * @param placement where new conversations go; null for in turn
   * @param demand what requests need of a pool; null to ignore occupancy
   * @throws IllegalArgumentException if {@code ranks} is below 1
   */
  public ConversationAdpRouter(
      int ranks,
      double fairShareMultiplier,
      int maxSessions,
      NewConversationPlacement placement,
      BlockDemand demand) {
    this.fairShareMultiplier = fairShareMultiplier >= 1 ? fairShareMultiplier : 1;
    this.maxSessions = Math.max(1, maxSessions);
    this.placement = Objects.requireNonNullElse(placement, NewConversationPlacement.ROUND_ROBIN);
    this.bindings = new ConversationBindings(this.maxSessions);
    this.batch = new PlacementBatch(name(), ranks, demand);
    this.ranks = batch.ranks();
  }

  @Override
  public String name() {
    return AdpRouterKind.CONVERSATION.id();
  }

  @Override
  public boolean needsPrefixMatches() {
    return false;
  }

  @Override
  public boolean readsOccupancy() {
    return batch.readsOccupancy();
  }

  @Override
  public LoadMetric loadMetric() {
    return LoadMetric.PROMPT_TOKENS;
  }

  @Override
  public long stateDigest() {
    return Digest64.fold(bindings.digest(), cursor);
  }

  double fairShareMultiplier() {
    return fairShareMultiplier;
  }

  int maxSessions() {
    return maxSessions;
  }

  NewConversationPlacement placement() {
    return placement;
  }

  /** Conversation to rank, least recently used first. */
  Map<String, Integer> bindings() {
    return bindings.toMap();
  }

  @Override
  public Assignment route(
      List<RankState> states,
      List<Request> requests,
      PrefixMatches matches,
      int maxActiveRequests) {
    batch.begin(states, requests, matches, maxActiveRequests);
    placeTargeted();
    int expected = batch.softTarget(fairShareMultiplier);
    for (int i = 0; i < batch.deferredCount(); i++) {
      placeDeferred(batch.deferred(i), expected);
    }
    return batch.finish(batch.deferredCount(), Math.max(expected, ranks.mostActiveRequests()));
  }

  private void placeTargeted() {
    for (int i = 0; i < batch.size(); i++) {
      int index = batch.strictFirst(i);
      int target = batch.request(index).targetRank();
      String conversation = conversation(index);
      if (target != Request.ANY_RANK && home(conversation) < 0 && batch.hasRoom(target)) {
        place(index, target, AdpReason.EXPLICIT);
        bind(conversation, target);
      } else {
        batch.defer(index);
      }
    }
  }

  private void placeDeferred(int index, int expected) {
    String conversation = conversation(index);
    int home = home(conversation);
    batch.consider(index, expected);
    if (home >= 0 && batch.hasRoom(home) && batch.acceptable(home, index)) {
      place(index, home, AdpReason.STICKY);
      bindings.touch(conversation);
      return;
    }
    int rank = placement == NewConversationPlacement.ROUND_ROBIN ? inTurn(index, expected) : -1;
    boolean turn = rank >= 0;
    if (!turn) {
      rank = lightest(index, expected);
    }
    if (home >= 0) {
      place(index, rank, AdpReason.OVERFLOW);
    } else {
      place(index, rank, turn ? AdpReason.ROUND_ROBIN : AdpReason.LOAD);
      bind(conversation, rank);
    }
  }

  private String conversation(int index) {
    String id = batch.request(index).conversationId();
    return id == null || id.isEmpty() ? null : id;
  }

  /** The live rank that a conversation is bound to, or a negative number. */
  private int home(String conversation) {
    int rank = conversation == null ? ConversationBindings.UNBOUND : bindings.rank(conversation);
    return rank >= 0 && ranks.isLive(rank) ? rank : ConversationBindings.UNBOUND;
  }

  private void bind(String conversation, int rank) {
    if (conversation != null) {
      bindings.bind(conversation, rank);
    }
  }

  private void place(int index, int rank, AdpReason reason) {
    boolean counted = placement == NewConversationPlacement.LEAST_TOKENS;
    batch.place(index, rank, reason, counted ? batch.request(index).promptTokens() : 0);
  }

  /** The next rank in turn that may take a request, or -1; every rank looked at had its turn. */
  private int inTurn(int index, int expected) {
    for (int i = 0; i < ranks.ranks(); i++) {
      int rank = cursor;
      cursor = (cursor + 1) % ranks.ranks();
      if (ranks.activeRequests(rank) < expected && batch.acceptable(rank, index)) {
        return rank;
      }
    }
    return -1;
  }

  /** The least loaded rank that may take a request; if there is none, the least loaded of all. */
  private int lightest(int index, int expected) {
    int lightest = -1;
    boolean lightestMay = false;
    for (int i = 0; i < ranks.liveCount(); i++) {
      int rank = ranks.live(i);
      boolean may = ranks.activeRequests(rank) < expected && batch.acceptable(rank, index);
      if (lightest < 0
          || (may && !lightestMay)
          || (may == lightestMay && lighter(rank, lightest))) {
        lightest = rank;
        lightestMay = may;
      }
    }
    return lightest;
  }

  private boolean lighter(int rank, int other) {
    if (placement == NewConversationPlacement.LEAST_TOKENS
        && ranks.activeTokens(rank) != ranks.activeTokens(other)) {
      return ranks.activeTokens(rank) < ranks.activeTokens(other);
    }
    return ranks.activeRequests(rank) < ranks.activeRequests(other);
  }
}
