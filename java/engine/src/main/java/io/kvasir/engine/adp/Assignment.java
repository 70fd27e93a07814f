package io.kvasir.engine.adp;

import io.kvasir.model.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A router's decisions for one batch.
 *
 * <p>Immutable.
 *
 * @param ranks number of ranks of the worker, retired ones included
 * @param decisions every placement, in decision order
 * @param unassigned requests that fit nowhere, in batch order; they return to the queue
 * @param expectedActiveRequests soft target of requests per rank; a rank below it is padded
 * @param activeTokensAfter each rank's load after the batch, as the router counted it; 0 for
 *     retired ranks
 */
@SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
public record Assignment(
    int ranks,
    List<Decision> decisions,
    List<Request> unassigned,
    int expectedActiveRequests,
    long[] activeTokensAfter) {

  /**
   * The requests of one rank, in assignment order.
   *
   * @param rank the rank
   * @return a new list
   */
  public List<Request> assignedTo(int rank) {
    List<Request> assigned = new ArrayList<>();
    for (Decision decision : decisions) {
      if (decision.rank() == rank) {
        assigned.add(decision.request());
      }
    }
    return assigned;
  }

  /** {@return the decisions, the number of unassigned requests, and each rank's load} */
  @Override
  public String toString() {
    return decisions
        + ", "
        + unassigned.size()
        + " unassigned, active tokens "
        + Arrays.toString(activeTokensAfter);
  }
}
