package io.kvasir.engine.execute;

import io.kvasir.engine.pool.Occupancy;
import java.util.Arrays;

/**
 * A rank has requests and can start none, because blocks of its pool are leased by others than its
 * requests. The step has not begun; it can begin when there is room again. Immutable.
 */
public final class CrowdedPoolException extends IllegalStateException {

  private static final long serialVersionUID = 1L;

  CrowdedPoolException(int rank, Occupancy occupancy) {
    super("rank " + rank + " can start nothing: its pool has other users, " + occupancy);
  }

  /**
   * Whether an iteration failed for this reason only. The failures of several ranks come as one
   * exception, which has the others as suppressed ones.
   *
   * @param failure what the iteration threw
   * @return false if any rank failed for another reason
   */
  public static boolean only(RuntimeException failure) {
    return failure instanceof CrowdedPoolException
        && Arrays.stream(failure.getSuppressed()).allMatch(CrowdedPoolException.class::isInstance);
  }
}
