package io.kvasir.engine.execute;

import io.kvasir.engine.pool.Occupancy;

/**
 * A rank has requests and can start none, because blocks of its pool are leased by others than its
 * requests. The step has not begun; it can begin when there is room again. Immutable.
 */
public final class CrowdedPoolException extends IllegalStateException {

  private static final long serialVersionUID = 1L;

  CrowdedPoolException(int rank, Occupancy occupancy) {
    super("rank " + rank + " can start nothing: its pool has other users, " + occupancy);
  }
}
