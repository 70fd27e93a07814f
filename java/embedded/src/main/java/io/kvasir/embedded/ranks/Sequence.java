package io.kvasir.embedded.ranks;

import io.kvasir.embedded.api.SequenceListener;
import io.kvasir.engine.adp.AdpReason;
import io.kvasir.hash.HashedRequest;
import org.jspecify.annotations.Nullable;

/**
 * One sequence on its way through the ranks: one choice of a request.
 *
 * <p>The constant parts may be read by any thread, the others belong to the loop's thread.
 */
final class Sequence {

  /** Where a sequence is. */
  enum Stage {
    /** In the worker's waiting queue. */
    QUEUED,
    /** On a rank, without blocks. */
    PLACED,
    /** On a rank, with blocks. */
    RUNNING,
    /** Not in the worker. */
    OUTSIDE
  }

  private final HashedRequest request;
  private final Answer answer;
  private final SequenceListener listener;
  private final int choice;
  private final @Nullable String salt;
  private final @Nullable KvLeg leg;

  /** Whether its leg has it, and not the ranks: before it runs, or once it is computed. */
  boolean withLeg;

  Stage stage = Stage.OUTSIDE;
  int rank = -1;
  AdpReason reason = AdpReason.LOAD;

  Sequence(
      HashedRequest request,
      Answer answer,
      SequenceListener listener,
      int choice,
      @Nullable String salt,
      @Nullable KvLeg leg) {
    this.request = request;
    this.answer = answer;
    this.listener = listener;
    this.choice = choice;
    this.salt = salt;
    this.leg = leg;
  }

  long id() {
    return request.request().id();
  }

  HashedRequest request() {
    return request;
  }

  Answer answer() {
    return answer;
  }

  SequenceListener listener() {
    return listener;
  }

  /** The salt of its blocks; null if it has none. */
  @Nullable String salt() {
    return salt;
  }

  /** What moves its KV between engines; null if nothing does. */
  @Nullable KvLeg leg() {
    return leg;
  }

  /** Its number within its request. */
  int choice() {
    return choice;
  }
}
