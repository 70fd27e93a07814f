package io.kvasir.cli.lines.route;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.model.Decimals;
import io.kvasir.model.Errors;
import java.util.Arrays;
import java.util.Iterator;

/**
 * A placement of TensorRT-LLM's route trace.
 *
 * @param requestId the engine's own id of the request, the seed for ties
 * @param phase how it was placed; only {@value #SCORED} placements have scores
 * @param promptTokens tokens of the prompt
 * @param rank the chosen rank
 * @param chargedTokens tokens that were added to the rank's load
 * @param competing the ranks that competed, ascending; empty if there are no scores
 * @param matchedTokens for each of them, matched tokens of the prompt
 * @param scores for each of them, its score
 * @param affinityActive whether matches counted
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
record TracedDecision(
    long requestId,
    String phase,
    int promptTokens,
    int rank,
    int chargedTokens,
    int[] competing,
    int[] matchedTokens,
    double[] scores,
    boolean affinityActive) {

  /** The phase with scores. */
  static final String SCORED = "scored";

  private static final int[] NO_RANKS = {};
  private static final double[] NO_SCORES = {};

  /**
   * Reads a placement.
   *
   * @param ranks ranks of the engine
   * @throws InvalidLineException naming the field that is missing or wrong
   */
  static TracedDecision of(Fields fields, int ranks) {
    long id = fields.id("req_id");
    String phase = fields.requiredText("phase");
    int promptTokens = count(fields, "req_tokens");
    int rank = fields.integer("best_rank", 0, ranks - 1);
    int charged = count(fields, "effective_added");
    if (!phase.equals(SCORED)) {
      return new TracedDecision(
          id, phase, promptTokens, rank, charged, NO_RANKS, NO_RANKS, NO_SCORES, false);
    }
    Fields scored = Fields.ofForeign(fields.at("scores"), fields.required("scores"));
    Fields matches = Fields.ofForeign(fields.at("match_lens"), fields.required("match_lens"));
    fields.required("cache_affinity_active");
    int[] competing = competing(scored, fields.required("scores"), ranks);
    int[] matchedTokens = new int[competing.length];
    double[] scores = new double[competing.length];
    for (int i = 0; i < competing.length; i++) {
      String name = Integer.toString(competing[i]);
      matchedTokens[i] = count(matches, name);
      scored.required(name);
      scores[i] = scored.number(name, 0);
    }
    if (Arrays.binarySearch(competing, rank) < 0) {
      throw new InvalidLineException(
          fields.at("best_rank") + " must be one of the ranks with scores, not " + rank);
    }
    return new TracedDecision(
        id,
        phase,
        promptTokens,
        rank,
        charged,
        competing,
        matchedTokens,
        scores,
        fields.flag("cache_affinity_active", false));
  }

  private static int count(Fields fields, String name) {
    return (int) TracedBatch.whole(fields.at(name), fields.required(name), Integer.MAX_VALUE);
  }

  /** The ranks that have scores. A rank is written as a string. */
  private static int[] competing(Fields fields, JsonNode scores, int ranks) {
    int[] competing = new int[scores.size()];
    int next = 0;
    for (Iterator<String> names = scores.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      Long rank = Decimals.integer(name);
      if (rank == null || rank < 0 || rank >= ranks || !Long.toString(rank).equals(name)) {
        throw new InvalidLineException(
            Errors.shown(fields.at(name)) + " must be a rank from 0 to " + (ranks - 1));
      }
      competing[next++] = rank.intValue();
    }
    Arrays.sort(competing);
    return competing;
  }
}
