package io.kvasir.fleet.router.booking;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ApproximateIndex;
import io.kvasir.fleet.index.ApproximateOptions;
import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.PromptSource;
import io.kvasir.hash.BlockHashes;
import io.kvasir.model.RankId;

/**
 * What the ranks hold of prompts. Prompts with tokens are matched by the policy's index. Prompts
 * without tokens are matched by where prompts with the same beginning of their text were placed,
 * and by the rank of their conversation: a tokenizer that fails, and an API whose prompts cannot be
 * tokenised, cost a request its exact match, not its rank.
 *
 * <p>Thread-safe.
 */
final class PromptMatches {

  /** Cap on the memory of the index of texts, which never fills it: its blocks have a bound. */
  private static final long TEXT_BYTES = 256L << 20;

  private final PrefixIndex index;
  private final PrefixIndex texts;
  private final ConversationRanks conversations = new ConversationRanks();
  private final FleetRouterSetup setup;

  /**
   * Begins without placements.
   *
   * @param index what ranks hold of prompts with tokens; closed with this
   * @param textTtlMs how long the text of a placed prompt counts as held, in milliseconds
   * @param setup how blocks are named, their size, and the clock
   */
  PromptMatches(PrefixIndex index, long textTtlMs, FleetRouterSetup setup) {
    this.index = index;
    this.texts =
        new ApproximateIndex(
            new NativePrefixIndex(setup.naming(), setup.tokensPerBlock(), TEXT_BYTES),
            ApproximateOptions.TEXTS.withTtlMs(textTtlMs),
            setup.clockNs());
    this.setup = setup;
  }

  PrefixIndex index() {
    return index;
  }

  /** Names and matches a request. O(tokens) or O(characters). */
  MatchedRequest match(FleetRequest request) {
    int perBlock = setup.tokensPerBlock();
    readPrompt(request);
    BlockHashes prefix = request.prefix(setup.naming(), perBlock);
    RankMatches matches = new RankMatches();
    if (request.isTokenised()) {
      index.match(prefix.sequence(), prefix.blocks(), matches);
      for (BlockHashes further : request.furtherHashes(setup.naming(), perBlock)) {
        RankMatches more = new RankMatches();
        index.match(further.sequence(), further.blocks(), more);
        matches.addUp(more);
      }
      return new MatchedRequest(request, prefix, prefix.blocks(), matches);
    }
    // The caller may expect fewer tokens than the text would be.
    int blocks = Math.min(prefix.blocks(), request.inputTokens() / perBlock);
    texts.match(prefix.sequence(), blocks, matches);
    int left = request.inputTokens() / perBlock - blocks;
    for (BlockHashes further : request.furtherTextHashes(perBlock)) {
      RankMatches more = new RankMatches();
      texts.match(further.sequence(), Math.min(further.blocks(), left), more);
      left -= Math.min(further.blocks(), left);
      matches.addUp(more);
    }
    conversations.match(request.conversationId(), request.inputTokens(), perBlock, matches);
    return new MatchedRequest(request, prefix, blocks, matches);
  }

  /** Reads all that placements need of the prompt, which takes too long for the router's lock. */
  private void readPrompt(FleetRequest request) {
    BlockHashes unused = request.textHashes(setup.tokensPerBlock());
    PromptSource.Turn unusedTurn = request.turn();
  }

  /** A request was placed on a rank. O(blocks). */
  void onPlaced(MatchedRequest matched, RankId rank) {
    FleetRequest request = matched.request();
    if (request.isTokenised()) {
      index.onPlaced(rank, matched.hashes());
      for (BlockHashes further : request.furtherHashes(setup.naming(), setup.tokensPerBlock())) {
        index.onPlaced(rank, further);
      }
    }
    BlockHashes text = request.textHashes(setup.tokensPerBlock());
    if (text.blocks() > 0) {
      texts.onPlaced(rank, text);
    }
    for (BlockHashes further : request.furtherTextHashes(setup.tokensPerBlock())) {
      texts.onPlaced(rank, further);
    }
    String conversation = request.conversationId();
    if (conversation != null) {
      conversations.placed(conversation, rank, request.inputTokens());
    }
  }

  void onBlocks(RankId rank, BlockEvent event) {
    index.apply(rank, event);
    if (event instanceof BlockEvent.Cleared) {
      texts.removeRank(rank);
      conversations.clear(rank);
    }
  }

  void removeRank(RankId rank) {
    index.removeRank(rank);
    texts.removeRank(rank);
    conversations.removeRank(rank);
  }

  void close() {
    index.close();
    texts.close();
  }
}
