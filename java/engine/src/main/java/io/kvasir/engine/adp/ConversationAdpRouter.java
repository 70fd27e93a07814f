package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Digest64;
import io.kvasir.model.Request;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Keeps each conversation on the rank that served its first turn.
 *
 * <p>Makes the same decisions as TensorRT-LLM's conversation-aware ADP router, with two exceptions.
 * When a rank retires, its conversations are bound to other ranks. Where occupancy is known, a rank
 * that cannot hold a request is skipped while another rank can; the conversation stays bound to the
 * skipped rank.
 *
 * <p>Not thread-safe. Between calls it keeps the bindings of the most recently used conversations
 * and the round-robin cursor.
 */
public final class ConversationAdpRouter implements AdpRouter {

  /*
   * A batch is placed in two steps.
   *
   * 1. A request that names a rank with room goes there and binds its conversation, strict requests
   *    first. If the conversation is already bound, the named rank is ignored.
   * 2. The rest, in the same order:
   *    - A request of a bound conversation goes to the bound rank while that is below the hard cap,
   *      and the conversation becomes the most recently used. The soft target does not apply: a
   *      missed prefix costs more than some imbalance.
   *    - Any other request (new conversation, no conversation, or bound rank full) follows the
   *      placement policy among ranks below the soft target. If there is none, the least loaded
   *      rank takes it. By least tokens, equal ranks are taken in turn. An unbound conversation is
   *      bound there; a conversation whose rank was full keeps its binding.
   *
   * Nothing is left over: requests beyond the ranks' hard caps are placed too.
   */

  private final double fairShareMultiplier;
  private final int maxSessions;
  private final NewConversationPlacement placement;
  private final ConversationBindings bindings;
  private int cursor;

  private final PlacementBatch batch;
  private final RankLoads ranks;

  /**
   * Creates a router. Like the upstream constructor, it clamps values that are out of range;
   * configurations are validated earlier.
   *
   * @param ranks ranks of the worker
   * @param fairShareMultiplier multiple of its fair share of requests up to which a rank takes new
   *     conversations; values below 1 count as 1
   * @param maxSessions conversations to remember; values below 1 count as 1
   * @param placement how new conversations are placed; null for round-robin
   * @param demand blocks that a request needs; null to ignore occupancy
   * @throws IllegalArgumentException if {@code ranks} is below 1
   */
  public ConversationAdpRouter(
      int ranks,
      double fairShareMultiplier,
      int maxSessions,
      @Nullable NewConversationPlacement placement,
      @Nullable BlockDemand demand) {
    this.fairShareMultiplier = fairShareMultiplier >= 1 ? fairShareMultiplier : 1;
    this.maxSessions = Math.max(1, maxSessions);
    this.placement = Objects.requireNonNullElse(placement, NewConversationPlacement.ROUND_ROBIN);
    this.bindings = new ConversationBindings(this.maxSessions);
    this.batch = new PlacementBatch(name(), ranks, demand, true);
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
      if (target != Request.ANY_RANK && boundRank(conversation) < 0 && batch.hasRoom(target)) {
        place(index, target, AdpReason.EXPLICIT);
        bind(conversation, target);
      } else {
        batch.defer(index);
      }
    }
  }

  private void placeDeferred(int index, int expected) {
    String conversation = conversation(index);
    int boundRank = boundRank(conversation);
    batch.consider(index, expected);
    if (conversation != null
        && boundRank >= 0
        && batch.hasRoom(boundRank)
        && batch.acceptable(boundRank, index)) {
      place(index, boundRank, AdpReason.STICKY);
      bindings.touch(conversation);
      return;
    }
    int rank = placement == NewConversationPlacement.ROUND_ROBIN ? inTurn(index, expected) : -1;
    boolean roundRobin = rank >= 0;
    if (!roundRobin) {
      rank = lightest(index, expected);
      if (placement == NewConversationPlacement.LEAST_TOKENS) {
        cursor = (rank + 1) % ranks.ranks();
      }
    }
    if (boundRank >= 0) {
      place(index, rank, AdpReason.OVERFLOW);
    } else {
      place(index, rank, roundRobin ? AdpReason.ROUND_ROBIN : AdpReason.LOAD);
      bind(conversation, rank);
    }
  }

  /** The conversation by which a request is bound; a sub-agent's may be its parent's. */
  private @Nullable String conversation(int index) {
    String id = batch.request(index).affinityId();
    return id == null || id.isEmpty() ? null : id;
  }

  /** The live rank that a conversation is bound to, or a negative number. */
  private int boundRank(@Nullable String conversation) {
    int rank = conversation == null ? ConversationBindings.UNBOUND : bindings.rank(conversation);
    return rank >= 0 && ranks.isLive(rank) ? rank : ConversationBindings.UNBOUND;
  }

  private void bind(@Nullable String conversation, int rank) {
    if (conversation != null) {
      bindings.bind(conversation, rank);
    }
  }

  private void place(int index, int rank, AdpReason reason) {
    boolean counted = placement == NewConversationPlacement.LEAST_TOKENS;
    batch.place(index, rank, reason, counted ? batch.request(index).promptTokens() : 0);
  }

  /**
   * The next rank in round-robin order that may take a request, or -1. The cursor moves past every
   * rank that was examined.
   */
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

  /** The least loaded rank that may take a request; if none may, the least loaded of all. */
  private int lightest(int index, int expected) {
    int lightest = -1;
    boolean lightestAllowed = false;
    for (int i = 0; i < ranks.liveCount(); i++) {
      int rank = ranks.live(i);
      boolean allowed = ranks.activeRequests(rank) < expected && batch.acceptable(rank, index);
      if (lightest < 0
          || (allowed && !lightestAllowed)
          || (allowed == lightestAllowed && lighter(rank, lightest))) {
        lightest = rank;
        lightestAllowed = allowed;
      }
    }
    return lightest;
  }

  private boolean lighter(int rank, int other) {
    boolean byTokens = placement == NewConversationPlacement.LEAST_TOKENS;
    if (byTokens && ranks.activeTokens(rank) != ranks.activeTokens(other)) {
      return ranks.activeTokens(rank) < ranks.activeTokens(other);
    }
    if (ranks.activeRequests(rank) != ranks.activeRequests(other)) {
      return ranks.activeRequests(rank) < ranks.activeRequests(other);
    }
    return byTokens && fromCursor(rank) < fromCursor(other);
  }

  /** How many ranks the cursor passes before it reaches a rank. */
  private int fromCursor(int rank) {
    return Math.floorMod(rank - cursor, ranks.ranks());
  }
}
