package io.kvasir.fleet.router;

import io.kvasir.model.RankId;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The rank that serves a request, and why. Immutable.
 *
 * @param attempt number of this booking; another attempt at the same request has another number
 * @param rank the rank; {@link RankId#isAny} for policies that choose a worker only
 * @param reason why this rank
 * @param conversationId the conversation the request belongs to, made up where it names none; null
 *     if the policy keeps no conversations
 * @param firstTurn whether the request is known to start its conversation; false where nothing is
 *     known
 * @param matchedBlocks leading blocks of the prompt that the rank holds, as far as the policy looks
 * @param tokensPerBlock tokens in such a block; 0 if the policy does not match prefixes
 * @param eligible ranks, or workers, that the policy chose from, at least 1
 * @param waitedNs time that the request waited in the queue, in nanoseconds
 * @param firstTokenMs expected time to the first token, in milliseconds from the placement; NaN if
 *     the policy expects none, or had nothing to compare
 * @param terms the terms of the rank's cost by name, in the policy's order; empty if the policy
 *     compares no costs, or had nothing to compare
 * @param candidates what was known of each eligible rank, in their order; empty if there was
 *     nothing to compare or the router was not asked to explain
 */
public record Placement(
    long attempt,
    RankId rank,
    Reason reason,
    @Nullable String conversationId,
    boolean firstTurn,
    int matchedBlocks,
    int tokensPerBlock,
    int eligible,
    long waitedNs,
    double firstTokenMs,
    Map<String, Double> terms,
    List<CandidateCost> candidates) {

  /** Copies the list; the terms must not change any more. */
  public Placement {
    Objects.requireNonNull(rank, "rank");
    Objects.requireNonNull(reason, "reason");
    terms = Collections.unmodifiableMap(terms);
    candidates = List.copyOf(candidates);
  }

  /**
   * Matched prompt tokens. A partial last block counts whole, so the number may exceed the prompt.
   *
   * @return at least 0
   */
  public long matchedTokens() {
    return (long) matchedBlocks * tokensPerBlock;
  }
}
