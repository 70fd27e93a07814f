package io.kvasir.engine.pool;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The matched tokens of each request of a batch on each rank.
 *
 * <p>A table of ranks x requests. One thread fills it; after that it is only read. Matches are
 * advisory: a wrong or stale entry costs recomputation, never correctness.
 */
public final class PrefixMatches {

  /** The empty table: no request matches on any rank. */
  public static final PrefixMatches NONE = new PrefixMatches(0, 0);

  private final int ranks;
  private final int requests;
  private final int[] matchedTokens;

  /** Conversations by request; null if none was set. */
  private long @Nullable [] conversations;

  /** Matches after each rank has computed its placed requests; null if none was set. */
  private int @Nullable [] pendingTokens;

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
   * Matched tokens of one request on one rank. Entries outside the table are 0.
   *
   * @param rank the rank's index
   * @param request the request's index in its batch
   * @return tokens, at least 0
   */
  public int tokens(int rank, int request) {
    return rank < ranks && request < requests ? matchedTokens[rank * requests + request] : 0;
  }

  /**
   * Tokens of one request that will match after the rank has computed its earlier requests.
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
   * The conversation that one request continues or begins, found by its prompt.
   *
   * @param request the request's index in its batch
   * @return its key; 0 if it is unknown, or the request has a conversation id
   */
  public long conversation(int request) {
    return conversations == null || request >= requests ? 0 : conversations[request];
  }

  /**
   * Sets the conversation of one request.
   *
   * @param request the request's index in its batch
   * @param key the conversation's key
   * @throws IndexOutOfBoundsException outside the table
   */
  public void setConversation(int request, long key) {
    Objects.checkIndex(request, requests);
    if (conversations == null) {
      conversations = new long[requests];
    }
    conversations[request] = key;
  }

  /**
   * Sets one pending match.
   *
   * @param rank the rank's index
   * @param request the request's index in its batch
   * @param tokens tokens of its prompt that earlier requests have computed or will compute on this
   *     rank
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
   * Sets one match.
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
