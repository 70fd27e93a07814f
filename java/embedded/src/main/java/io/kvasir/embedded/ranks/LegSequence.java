package io.kvasir.embedded.ranks;

import io.kvasir.embedded.api.ApiError;
import io.kvasir.hash.HashedRequest;
import org.jspecify.annotations.Nullable;

/** A sequence as its leg sees it. Its changes take effect on the ranks' thread. Thread-safe. */
public final class LegSequence {

  private final RankLoop ranks;
  private final Sequence sequence;

  LegSequence(RankLoop ranks, Sequence sequence) {
    this.ranks = ranks;
    this.sequence = sequence;
  }

  /** {@return its tokens and hashes} */
  public HashedRequest request() {
    return sequence.request();
  }

  /** {@return the salt of its blocks; null if it has none} */
  public @Nullable String salt() {
    return sequence.salt();
  }

  /** Lets it run, with the KV that its rank has by now. */
  public void run() {
    ranks.runLeg(sequence);
  }

  /** Answers it, once it is computed. */
  public void answer() {
    ranks.endLeg(sequence, null);
  }

  /**
   * Ends it with an error.
   *
   * @param error the error
   */
  public void fail(ApiError error) {
    ranks.endLeg(sequence, error);
  }
}
