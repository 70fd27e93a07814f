package io.kvasir.engine.lockstep;

import io.kvasir.model.Digest64;

/** The digests of a member that decides nothing and whose router has no state. */
public final class NoDecisions {

  private final DecisionLog log = new DecisionLog();

  /** The digest of the next gather. */
  public long next() {
    long digest = Digest64.fold(log.digest(), 0);
    log.agree(digest);
    return digest;
  }
}
