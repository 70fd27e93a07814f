package io.kvasir.gateway.proxy;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;

/**
 * An attempt that failed. Immutable.
 *
 * @param worker the worker's id
 * @param dpRank the rank; negative if it is not known
 * @param reason why, as metrics name it
 */
record FailedAttempt(String worker, int dpRank, String reason) {

  /** Writes it as an object of the access log. */
  void write(JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("worker_id", worker);
    json.writeStringField("dp_rank", Tally.rankId(dpRank));
    json.writeStringField("reason", reason);
    json.writeEndObject();
  }
}
