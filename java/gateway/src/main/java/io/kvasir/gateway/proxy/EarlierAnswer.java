package io.kvasir.gateway.proxy;

import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.gateway.disagg.AnswerKv;
import io.kvasir.gateway.disagg.AnswerKv.Kept;
import io.kvasir.gateway.disagg.AnswerKv.Turn;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.tokens.PromptTokens;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The KV of the answer before a request in its conversation, and of the request's own answer for
 * the request after it.
 *
 * <p>That the request goes on from that answer is shown by the block events of the rank that has
 * it: the rank holds the request's leading blocks, as many as it offers, and at least one of them
 * has tokens of the answer.
 *
 * <p>Confined to the request's event loop.
 */
final class EarlierAnswer {

  private final Inbound inbound;
  private final @Nullable ModelFleet decodes;
  private final AnswerKv answers;
  private final @Nullable Turn turn;

  /** Whether it was asked for, which is answered once. */
  private boolean asked;

  /**
   * A request begins.
   *
   * @param decodes the workers that answer; null for any model
   */
  EarlierAnswer(Services services, Inbound inbound, @Nullable ModelFleet decodes) {
    this.inbound = inbound;
    this.decodes = decodes;
    this.answers = services.transfers().answers();
    String id = inbound.conversation().id();
    boolean apart = decodes != null && services.fleets().prefillFleet(inbound.model()) != null;
    this.turn = id == null || !apart ? null : answers.begin(inbound.model() + ' ' + id);
  }

  /**
   * What the request of a prefill worker says to have the answer's KV; null if it is not to be had,
   * and from the second call on. O(tokens).
   */
  @Nullable String params() {
    Turn of = turn;
    Kept before = of == null || asked ? null : of.before();
    asked = true;
    if (of == null || before == null || !goesOnFrom(before)) {
      return null;
    }
    answers.goesOn(of);
    return answers.isValid(before) ? before.params() : null;
  }

  private boolean goesOnFrom(Kept before) {
    PromptTokens tokens = inbound.tokens();
    ModelFleet fleet = decodes;
    FollowedRanks followed = fleet == null ? null : fleet.followed();
    if (fleet == null
        || followed == null
        || tokens == null
        || tokens.ids() == null
        || tokens.ids().size() != 1
        || tokens.count() < before.tokens()) {
      return false;
    }
    int blockTokens = fleet.tokensPerBlock();
    int blocks = before.tokens() / blockTokens;
    if (blocks * blockTokens <= before.promptTokens()) {
      return false;
    }
    FleetRequest request =
        RoutedRequest.of(0, inbound, Leg.PREFILL, RankFilter.ANY, LatencyTargets.NONE);
    BlockHashes hashes = request.hashes(HashFormat.KVASIR, blockTokens);
    RankMatches matches = new RankMatches();
    followed.index().match(hashes.sequence(), hashes.blocks(), matches);
    int rank = Math.max(0, before.rank());
    return matches.blocks(fleet.rankId(before.worker(), rank)) >= blocks;
  }

  /**
   * Receives what a decode worker offers of the request's answer, which the client does not get.
   */
  Consumer<String> receiver(ChosenTarget choice, Tally tally) {
    Turn of = turn;
    PromptTokens tokens = inbound.tokens();
    if (of == null || tokens == null || tokens.ids() == null || tokens.ids().size() != 1) {
      return params -> {};
    }
    boolean oneRank = choice.worker().profile().ranks() == 1;
    return params -> {
      int rank = oneRank ? 0 : tally.dpRank();
      if (rank >= 0) {
        answers.keep(of, params, tokens.count(), choice.worker(), rank);
      }
    };
  }
}
