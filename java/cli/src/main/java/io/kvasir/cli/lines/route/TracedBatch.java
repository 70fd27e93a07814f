package io.kvasir.cli.lines.route;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.Fields;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.engine.adp.RankState;
import io.kvasir.model.Errors;
import java.util.ArrayList;
import java.util.List;

/**
 * One line of TensorRT-LLM's route trace: a batch that its ADP router placed. Fields of a line may
 * come in any order, and unknown ones are ignored, because the format is young.
 *
 * @param iteration the iteration of the engine
 * @param states the load of each rank before the batch
 * @param unrouted requests that found no rank
 * @param decisions the placements, in the order in which they were made
 */
record TracedBatch(
    long iteration, List<RankState> states, int unrouted, List<TracedDecision> decisions) {

  private static final int MAX_RANKS = 4096;
  private static final long MAX_TOKENS = 1L << 52;

  /**
   * Reads a line.
   *
   * @throws InvalidLineException naming the field that is missing or wrong
   */
  static TracedBatch of(JsonNode line) {
    Fields fields = Fields.ofForeign("", line);
    long iteration = fields.id("iter");
    List<RankState> states =
        states(Fields.ofForeign("load_before", fields.required("load_before")));
    int unrouted = fields.integer("num_unrouted", 0, Integer.MAX_VALUE);
    JsonNode array = fields.requiredArray("decisions");
    List<TracedDecision> decisions = new ArrayList<>(array.size());
    for (int i = 0; i < array.size(); i++) {
      Fields decision = Fields.ofForeign("decisions[" + i + "]", array.get(i));
      decisions.add(TracedDecision.of(decision, states.size()));
    }
    return new TracedBatch(iteration, states, unrouted, decisions);
  }

  private static List<RankState> states(Fields load) {
    JsonNode requests = load.requiredArray("num_active_requests");
    JsonNode tokens = load.requiredArray("num_active_tokens");
    int ranks = requests.size();
    if (ranks == 0 || ranks > MAX_RANKS) {
      throw new InvalidLineException(
          load.at("num_active_requests") + " must have 1 to " + MAX_RANKS + " ranks, not " + ranks);
    }
    if (tokens.size() != ranks) {
      throw new InvalidLineException(
          "%s must have %d ranks, as num_active_requests has, not %d"
              .formatted(load.at("num_active_tokens"), ranks, tokens.size()));
    }
    List<RankState> states = new ArrayList<>(ranks);
    for (int rank = 0; rank < ranks; rank++) {
      String element = "[" + rank + "]";
      states.add(
          new RankState(
              rank,
              (int)
                  whole(
                      load.at("num_active_requests") + element,
                      requests.get(rank),
                      Integer.MAX_VALUE / 2),
              whole(load.at("num_active_tokens") + element, tokens.get(rank), MAX_TOKENS)));
    }
    return states;
  }

  /** A count, which may be written with a fraction of 0. */
  static long whole(String path, JsonNode node, long maximum) {
    double value = node.isNumber() ? node.doubleValue() : -1;
    if (!(value >= 0 && value <= maximum) || value != Math.rint(value)) {
      throw new InvalidLineException(
          path + " must be a whole number from 0 to " + maximum + ", not " + Errors.shown(node));
    }
    return (long) value;
  }

  /** Requests of the batch. */
  int requests() {
    return decisions.size() + unrouted;
  }
}
