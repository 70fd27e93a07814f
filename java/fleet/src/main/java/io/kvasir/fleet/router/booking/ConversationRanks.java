package io.kvasir.fleet.router.booking;

import io.kvasir.fleet.index.RankMatches;
import io.kvasir.model.Digest64;
import io.kvasir.model.RankId;
import it.unimi.dsi.fastutil.longs.Long2ObjectLinkedOpenHashMap;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The ranks on which conversations with an id were placed last, and the length of their last
 * prompts. A request without tokens is taken to continue the last prompt of its conversation, so a
 * tokenizer that fails costs no conversation its rank.
 *
 * <p>Bounded; the conversation unseen for longest is forgotten. About 80 bytes each. Thread-safe.
 */
final class ConversationRanks {

  private static final int MOST = 1 << 16;

  private final Long2ObjectLinkedOpenHashMap<Last> byId = new Long2ObjectLinkedOpenHashMap<>();

  /** How often each rank has forgotten all it held; no entry for never. */
  private final Map<RankId, Integer> cleared = new HashMap<>();

  /**
   * A conversation's last prompt.
   *
   * @param rank where it went
   * @param tokens its tokens
   * @param cleared how often the rank had been cleared
   */
  private record Last(RankId rank, int tokens, int cleared) {}

  /** A request of a conversation was placed. O(1). */
  synchronized void placed(String id, RankId rank, int inputTokens) {
    byId.putAndMoveToLast(key(id), new Last(rank, inputTokens, cleared.getOrDefault(rank, 0)));
    if (byId.size() > MOST) {
      Last unused = byId.removeFirst();
    }
  }

  /**
   * Adds what the rank of a conversation holds of a request without tokens.
   *
   * @param id the conversation, or null
   * @param inputTokens tokens of the request's prompt, about
   * @param tokensPerBlock tokens in a block
   * @param matches the request's matches; one of the conversation's rank that is longer stays
   */
  void match(@Nullable String id, int inputTokens, int tokensPerBlock, RankMatches matches) {
    Last last = id == null ? null : last(id);
    int blocks = last == null ? 0 : Math.min(last.tokens, inputTokens) / tokensPerBlock;
    if (last != null && blocks > matches.blocks(last.rank)) {
      RankId rank = last.rank;
      matches.retain(other -> !other.equals(rank));
      matches.add(rank, blocks);
    }
  }

  private synchronized @Nullable Last last(String id) {
    Last last = byId.get(key(id));
    return last != null && last.cleared == cleared.getOrDefault(last.rank, 0) ? last : null;
  }

  /** A rank holds nothing any more. O(1), because an engine can report it as often as it likes. */
  synchronized void clear(RankId rank) {
    cleared.merge(rank, 1, Integer::sum);
  }

  /** A rank was removed. O(conversations). */
  synchronized void removeRank(RankId rank) {
    byId.values().removeIf(last -> last.rank.equals(rank));
    cleared.remove(rank);
  }

  private static long key(String id) {
    return Digest64.fold(Digest64.EMPTY, id);
  }
}
