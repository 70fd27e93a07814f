package io.kvasir.cli.lines.route;

import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.cli.lines.ObjectLines;
import io.kvasir.engine.adp.KvCacheRoutingOptions;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads the file that TensorRT-LLM writes to {@code TRTLLM_ADP_ROUTE_TRACE} and counts the
 * decisions that Kvasir would make too. Memory does not grow with the file. Not thread-safe.
 */
public final class RouteTrace {

  /** Most phases that are counted by name. */
  private static final int MAX_PHASES = 16;

  private static final String OTHER_PHASES = "others";

  private final String name;
  private final ObjectLines lines;
  private final KvCacheRoutingOptions options;
  private final int maxActiveRequests;
  private final Map<String, Long> phases = new TreeMap<>();
  private @Nullable DecisionCheck check;
  private long batches;
  private long decisions;
  private long scored;
  private long unrouted;
  private long agreeing;
  private long rounded;
  private boolean cutOff;
  private String firstDifference = "";

  /**
   * Makes a reader.
   *
   * @param name name of the file in errors
   * @param in the trace
   * @param limit bounds the work of a line
   * @param options weight, threshold and multiplier of the engine's router
   * @param maxActiveRequests the engine's most active requests of a rank; 0 if unknown
   */
  public RouteTrace(
      String name,
      InputStream in,
      LineLimit limit,
      KvCacheRoutingOptions options,
      int maxActiveRequests) {
    this.name = name;
    this.lines = new ObjectLines(in, () -> {}, limit);
    this.options = options;
    this.maxActiveRequests = maxActiveRequests;
  }

  /**
   * Reads and compares all lines. A last line that is cut off is left out, because an engine that
   * is killed leaves one.
   *
   * @return whether all scored decisions agree; false if decisions exist and none is scored
   * @throws IOException if the trace cannot be read
   * @throws InvalidLineException naming the file, the line and the field, if a line is not valid,
   *     or if there is none
   */
  public boolean run() throws IOException {
    while (lines.next()) {
      try {
        JsonNode line = object();
        if (line != null) {
          compare(TracedBatch.of(line));
        }
      } catch (InvalidLineException e) {
        throw new InvalidLineException(name + ":" + lines.number() + ": " + e.getMessage());
      }
    }
    if (batches == 0) {
      throw new InvalidLineException(name + ": has no batch");
    }
    return agreeing == scored && (scored > 0 || decisions == 0);
  }

  /** The current line; null if it is cut off. */
  private @Nullable JsonNode object() throws IOException {
    try {
      return lines.object();
    } catch (InvalidLineException e) {
      if (lines.isTerminated()) {
        throw e;
      }
      cutOff = true;
      return null;
    }
  }

  private void compare(TracedBatch batch) {
    if (check == null) {
      check = new DecisionCheck(batch.states().size(), options, maxActiveRequests);
    } else if (batch.states().size() != check.ranks()) {
      throw new InvalidLineException(
          "load_before has %d ranks, but earlier lines have %d"
              .formatted(batch.states().size(), check.ranks()));
    }
    check.begin(batch);
    batches++;
    unrouted += batch.unrouted();
    for (TracedDecision decision : batch.decisions()) {
      decisions++;
      count(decision.phase());
      if (decision.phase().equals(TracedDecision.SCORED)) {
        scored++;
        compare(batch, decision, check);
      }
      check.place(decision);
    }
  }

  private void compare(TracedBatch batch, TracedDecision decision, DecisionCheck own) {
    String difference = own.difference(decision);
    if (difference == null) {
      agreeing++;
      rounded += own.roundedDifferently() ? 1 : 0;
    } else if (firstDifference.isEmpty()) {
      firstDifference =
          "line %d, iter %d, req_id %d: %s"
              .formatted(lines.number(), batch.iteration(), decision.requestId(), difference);
    }
  }

  private void count(String phase) {
    boolean named = phases.containsKey(phase) || phases.size() < MAX_PHASES;
    phases.merge(named ? phase : OTHER_PHASES, 1L, Long::sum);
  }

  /** {@return the counts, and the first decision that differs, as lines of text} */
  public String report() {
    StringBuilder text = new StringBuilder();
    text.append("%s: %d batches, %d decisions".formatted(name, batches, decisions));
    String separator = " (";
    for (Map.Entry<String, Long> phase : phases.entrySet()) {
      text.append(separator).append(phase.getValue()).append(' ');
      text.append(Errors.shown(phase.getKey()));
      separator = ", ";
    }
    text.append(phases.isEmpty() ? "" : ")");
    text.append(", %d requests without a rank\n".formatted(unrouted));
    text.append("%d of %d scored decisions agree".formatted(agreeing, scored));
    text.append(rounded == 0 ? "\n" : ", %d of them except for rounding\n".formatted(rounded));
    if (!firstDifference.isEmpty()) {
      text.append("the first that differs: ").append(firstDifference).append('\n');
    }
    if (cutOff) {
      text.append("the last line is cut off and was left out\n");
    }
    return text.toString();
  }
}
