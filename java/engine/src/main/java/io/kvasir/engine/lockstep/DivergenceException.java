package io.kvasir.engine.lockstep;

import java.util.OptionalLong;

/** The decisions of the members have diverged. The next gather throws it in all members. */
public final class DivergenceException extends LockstepException {

  private static final long serialVersionUID = 1L;

  private final boolean namesRequest;
  private final long requestId;

  DivergenceException(String message, boolean namesRequest, long requestId) {
    super(message);
    this.namesRequest = namesRequest;
    this.requestId = requestId;
  }

  /**
   * {@return the id of the first request that differs between members, or whose placement differs;
   * empty if all requests agree, but the router's state or the ranks' states differ}
   */
  public OptionalLong requestId() {
    return namesRequest ? OptionalLong.of(requestId) : OptionalLong.empty();
  }
}
