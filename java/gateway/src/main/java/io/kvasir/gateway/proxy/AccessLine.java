package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.util.List;

/**
 * Writes one request's line of the access log: the names and forms of its fields. Unknown values
 * are left out. Used by one thread.
 */
final class AccessLine {

  private static final double NANOS_PER_MILLI = 1e6;

  private final JsonGenerator json;
  private final long arrivedNs;

  /**
   * Begins the line.
   *
   * @param json writes the members of an object
   * @param arrivedNs when the request arrived, by {@link System#nanoTime}, as all times
   */
  AccessLine(JsonGenerator json, long arrivedNs) {
    this.json = json;
    this.arrivedNs = arrivedNs;
  }

  /** What was asked for, and the status of the reply. */
  void request(String method, String path, String protocol, int status, String model)
      throws IOException {
    json.writeStringField("method", method);
    json.writeStringField("path", Errors.shown(path));
    json.writeStringField("protocol", protocol);
    json.writeNumberField("status", status);
    json.writeStringField("model", Errors.shown(model));
  }

  /**
   * The last attempt.
   *
   * @param dpRank the rank that serves it; negative if that is not known
   * @param attempts attempts so far
   */
  void placed(ChosenTarget choice, int dpRank, long matchedTokens, int attempts, long placedNs)
      throws IOException {
    json.writeStringField("worker_id", choice.worker().name());
    json.writeStringField("dp_rank", rankId(dpRank));
    json.writeStringField("reason", choice.reason());
    json.writeNumberField("matched_tokens", matchedTokens);
    json.writeNumberField("attempts", attempts);
    json.writeNumberField("placed_ms", ms(placedNs));
  }

  /** The attempts that failed. */
  void failures(List<FailedAttempt> failures) throws IOException {
    if (failures.isEmpty()) {
      return;
    }
    json.writeArrayFieldStart("failed_attempts");
    for (FailedAttempt failure : failures) {
      json.writeStartObject();
      json.writeStringField("worker_id", failure.worker());
      json.writeStringField("dp_rank", rankId(failure.dpRank()));
      json.writeStringField("reason", failure.reason());
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  /** The times that the client asked for. */
  void targets(LatencyTargets asked) throws IOException {
    if (asked.ttftMs() < Double.POSITIVE_INFINITY) {
      json.writeNumberField("ttft_target_ms", asked.ttftMs());
    }
    if (asked.tpotMs() < Double.POSITIVE_INFINITY) {
      json.writeNumberField("tpot_target_ms", asked.tpotMs());
    }
  }

  /** When data was first forwarded, 0 for never, and when the request was over. */
  void times(long firstEventNs, long endNs) throws IOException {
    if (firstEventNs != 0) {
      json.writeNumberField("first_event_ms", ms(firstEventNs));
    }
    json.writeNumberField("total_ms", ms(endNs));
  }

  /** Numbers of tokens; prompt and cached ones are negative where they are not known. */
  void tokens(long prompt, long cached, long output) throws IOException {
    if (prompt >= 0) {
      json.writeNumberField("prompt_tokens", prompt);
    }
    if (cached >= 0) {
      json.writeNumberField("cached_tokens", cached);
    }
    json.writeNumberField("output_tokens", output);
  }

  /** What went wrong; empty for nothing. */
  void error(String error) throws IOException {
    if (!error.isEmpty()) {
      json.writeStringField("error", Errors.shown(error));
    }
  }

  /** A rank's name in logs. */
  static String rankId(int dpRank) {
    return dpRank < 0 ? "any" : Integer.toString(dpRank);
  }

  private double ms(long atNs) {
    return Math.round((atNs - arrivedNs) / NANOS_PER_MILLI * 1e3) / 1e3;
  }
}
