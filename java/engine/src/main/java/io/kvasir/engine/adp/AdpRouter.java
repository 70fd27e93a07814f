package io.kvasir.engine.adp;

import io.kvasir.engine.pool.PrefixMatches;
import io.kvasir.model.Request;
import java.util.List;

/**
 * Places requests on the ranks of one worker.
 *
 * <p>Deterministic: equal call histories give equal decisions in every process. Not thread-safe.
 */
public interface AdpRouter {

  /** {@return the router's name in options and reports} */
  String name();

  /**
   * {@return whether {@link #route} needs the matches of each request on each rank; false if they
   * may be {@link PrefixMatches#NONE}}
   */
  boolean needsPrefixMatches();

  /**
   * Whether {@link #route} reads {@link RankState#occupancy()} and {@link RankState#queuedBlocks()}
   * where present. If so, pools must be settled before states are taken.
   *
   * @return false if decisions do not depend on them
   */
  default boolean readsOccupancy() {
    return false;
  }

  /**
   * {@return whether {@link #route} reads {@link RankState#work()} and {@link
   * PrefixMatches#pendingTokens} where present}
   */
  default boolean readsWork() {
    return false;
  }

  /**
   * {@return whether {@link #route} reads {@link PrefixMatches#conversation} of requests without
   * conversation ids}
   */
  default boolean readsConversations() {
    return false;
  }

  /** {@return whether {@link #stepped} does anything} */
  default boolean learnsFromSteps() {
    return false;
  }

  /**
   * A step of all live ranks has ended. Every process of a worker calls it for the same steps, with
   * the same arguments, between calls of {@link #route}. O(ranks).
   *
   * @param work what each rank did in the step, by rank; {@link RankWork#NONE} for nothing
   * @param durationNs the duration of the step in nanoseconds, above 0
   */
  default void stepped(List<RankWork> work, long durationNs) {}

  /**
   * Largest batch to route after one that left requests over. The limit keeps a long queue from
   * being scored in full in every iteration.
   *
   * @return at least 1
   */
  default int mostRequestsAfterLeftovers() {
    return Integer.MAX_VALUE;
  }

  /** {@return which tokens {@link RankState#activeTokens()} must count for this router} */
  LoadMetric loadMetric();

  /**
   * A digest of the state that the router keeps between calls. Processes compare it to detect that
   * their routers have diverged. At most O(ranks).
   *
   * @return equal for equal call histories; 0 if the router is stateless
   */
  default long stateDigest() {
    return 0;
  }

  /**
   * Places a batch on the live ranks. O(requests x ranks).
   *
   * <p>A rank without a state has been retired. Nothing is placed on it, and the mean number of
   * requests per rank does not include it. A request that names it is placed as if the rank were
   * full.
   *
   * @param states one state per live rank, in rank order
   * @param requests the new requests, in arrival order
   * @param matches matched tokens by rank and index in {@code requests}
   * @param maxActiveRequests hard cap of requests per rank
   * @return the placements; requests that fit nowhere are returned as unassigned
   * @throws IllegalArgumentException if {@code states} is empty or not in rank order, or a state or
   *     a request names a rank that the worker never had; the router's state is unchanged
   */
  Assignment route(
      List<RankState> states, List<Request> requests, PrefixMatches matches, int maxActiveRequests);
}
