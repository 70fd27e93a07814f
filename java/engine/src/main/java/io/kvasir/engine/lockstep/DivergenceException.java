package io.kvasir.engine.lockstep;

import java.util.OptionalLong;

/**
 * Members that should have decided alike did not. Thrown in all of them by the gather that follows.
 */
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
   * The first request that was not the same, or not treated the same.
   *
   * @return its id; empty if all requests agree, but the router's state or the ranks' states do not
   */
  public OptionalLong requestId() {
    return namesRequest ? OptionalLong.of(requestId) : OptionalLong.empty();
  }
}
