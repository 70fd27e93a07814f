package io.kvasir.engine.pool;

import java.util.Objects;

/**
 * How many leading prompt tokens of each request of a batch each rank already holds.
 *
 * <p>A table of ranks x requests. Filled by one thread, then only read. Advisory: a wrong or late
 * entry costs recomputation, never correctness.
 */
public final class PrefixMatches {

  /** The table in which nobody holds anything. */
  public static final PrefixMatches NONE = new PrefixMatches(0, 0);

  private final int ranks;
  private final int requests;
  private final int[] matchedTokens;

  /** What the ranks will hold when what they were given is computed; null if nobody asked. */
  private int[] pendingTokens;

  /**
   * Makes a table of zeros.
   *
   * @param ranks number of ranks
   * @param requests number of requests in the batch
   * @throws ArithmeticException if the table would have 2^31 entries or more
   */
  public PrefixMatches(int ranks, int requests) {
    this.ranks = ranks;
    this.requests = requests;
    this.matchedTokens = new int[Math.multiplyExact(ranks, requests)];
  }

  /**
   * Matched tokens of one request on one rank. What lies outside the table is 0.
   *
   * @param rank the rank's index
   * @param request the request's index in its batch
   * @return tokens, at least 0
   */
  public int tokens(int rank, int request) {
    return rank < ranks && request < requests ? matchedTokens[rank * requests + request] : 0;
  }

  /**
   * Tokens of one request that a rank will hold when it has computed what it was given before.
   *
   * @param rank the rank's index
   * @param request the request's index in its batch
   * @return tokens, at least {@link #tokens}
   */
  public int pendingTokens(int rank, int request) {
    int matched = tokens(rank, request);
    return pendingTokens == null || rank >= ranks || request >= requests
        ? matched
        : Math.max(matched, pendingTokens[rank * requests + request]);
  }

  /**
   * Sets one entry of what will be held.
   *
   * @param rank the rank's index
   * @param request the request's index in its batch
   * @param tokens tokens of its prompt that requests before it have or compute on this rank
   * @throws IndexOutOfBoundsException outside the table
   */
  public void setPending(int rank, int request, int tokens) {
    Objects.checkIndex(rank, ranks);
    Objects.checkIndex(request, requests);
    if (pendingTokens == null) {
      pendingTokens = new int[matchedTokens.length];
    }
    pendingTokens[rank * requests + request] = tokens;
  }

  /**
   * Sets one entry.
   *
   * @param rank the rank's index
   * @param request the request's index in its batch
   * @param tokens matched tokens
   * @throws IndexOutOfBoundsException outside the table
   */
  public void set(int rank, int request, int tokens) {
    Objects.checkIndex(rank, ranks);
    Objects.checkIndex(request, requests);
    matchedTokens[rank * requests + request] = tokens;
  }
}
