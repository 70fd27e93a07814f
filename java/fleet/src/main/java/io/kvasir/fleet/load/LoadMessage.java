package io.kvasir.fleet.load;

import io.kvasir.model.RankId;
import java.util.Objects;

/**
 * A router's message to its replicas about one attempt to serve a request. Immutable as long as the
 * hashes of its load are not changed.
 *
 * @param requestId the request
 * @param attempt the sender's number of the attempt, which grows from one to the next
 * @param rank where the request is
 * @param loraName the request's LoRA adapter; empty for none
 * @param change what happened
 */
public record LoadMessage(
    long requestId, long attempt, RankId rank, String loraName, Change change) {

  /** What can happen to an attempt. */
  public sealed interface Change {}

  /**
   * It was placed.
   *
   * @param load what it brings
   */
  public record Added(SequenceLoad load) implements Change {}

  /** Its prompt has been computed. */
  public record PrefillDone() implements Change {}

  /** It has ended. */
  public record Freed() implements Change {}

  /** Checks that nothing is missing. */
  public LoadMessage {
    Objects.requireNonNull(rank, "rank");
    Objects.requireNonNull(loraName, "loraName");
    Objects.requireNonNull(change, "change");
  }
}
