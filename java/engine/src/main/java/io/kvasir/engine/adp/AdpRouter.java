package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.List;

/**
 * Places requests on the ranks of one worker.
 *
 * <p>Deterministic: equal histories of calls give equal answers in every process. Not thread-safe.
 */
public interface AdpRouter {

  /**
   * The router's name in options and reports.
   *
   * @return the name
   */
  String name();

  /**
   * Whether {@link #route} wants to know what each rank holds of each request.
   *
   * @return false if matches may be {@link PrefixMatches#NONE}
   */
  boolean needsPrefixMatches();

  /**
   * Whether {@link RankState#occupancy()} and {@link RankState#queuedBlocks()} are read if they are
   * there, so that pools must settle before.
   *
   * @return false if decisions do not depend on them
   */
  default boolean readsOccupancy() {
    return false;
  }

  /**
   * Whether {@link RankState#work()} and {@link PrefixMatches#pendingTokens} are read if they are
   * there.
   *
   * @return false if decisions do not depend on them
   */
  default boolean readsWork() {
    return false;
  }

  /**
   * How many requests a batch shall have at most after one that left some over, so that those who
   * wait for room are not all looked at in every iteration.
   *
   * @return at least 1
   */
  default int mostRequestsAfterLeftovers() {
    return Integer.MAX_VALUE;
  }

  /**
   * Which tokens {@link RankState#activeTokens()} must count for this router.
   *
   * @return the metric
   */
  LoadMetric loadMetric();

  /**
   * A digest of all that the router keeps between calls of {@link #route}, so that processes which
   * route alike can tell that they still do. O(1): routers keep it up to date as they go.
   *
   * @return equal for equal histories of calls; 0 if the router keeps nothing
   */
  default long stateDigest() {
    return 0;
  }

  /**
   * Places a batch on the live ranks. O(requests x ranks).
   *
   * <p>A rank without a state has been retired. Nothing is placed on it, and it does not count when
   * requests per rank are reckoned; a request that names it is placed as if it were full.
   *
   * @param states one state per live rank, in rank order
   * @param requests the new requests, in arrival order
   * @param matches matched tokens by rank and index in {@code requests}
   * @param maxActiveRequests hard cap of requests per rank
   * @return who goes where; requests that fit nowhere are returned as unassigned
   * @throws IllegalArgumentException if {@code states} is empty or not in rank order, or names a
   *     rank that the worker never had, or a target rank does; the router's state is unchanged
   */
  Assignment route(
      List<RankState> states, List<Request> requests, PrefixMatches matches, int maxActiveRequests);
}
