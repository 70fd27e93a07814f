package io.kvasir.fleet.load;

import io.kvasir.model.RankId;
import java.util.Arrays;

/**
 * The load of all ranks at one moment, and what one request would add. Ascending by rank. Reused
 * from one question to the next; filled by {@link ActiveSequences}. Not thread-safe.
 */
public final class PredictedLoads {

  private RankId[] ranks = new RankId[0];
  private long[] activeBlocks = new long[0];
  private int[] newBlocks = new int[0];
  private long[] activePrefillTokens = new long[0];
  private int[] activeRequests = new int[0];
  private long[] discounts = new long[0];
  private int size;

  /** Makes loads of no rank. */
  public PredictedLoads() {}

  /** {@return the number of ranks, at least 0} */
  public int size() {
    return size;
  }

  /**
   * A rank.
   *
   * @param i which, from 0
   * @return its identity
   */
  public RankId rank(int i) {
    return ranks[i];
  }

  /**
   * Finds a rank. O(log ranks).
   *
   * @param rank which
   * @return its number here, or a negative one if it is not here
   */
  public int indexOf(RankId rank) {
    return Arrays.binarySearch(ranks, 0, size, rank);
  }

  /**
   * Blocks that the rank's requests take.
   *
   * @param i which rank, from 0
   * @return at least 0
   */
  public long activeBlocks(int i) {
    return activeBlocks[i];
  }

  /**
   * Blocks that the rank's requests take, weighted by how much of them is still to come. If only
   * one request uses a block, and the length of its answer is known, the block counts for the share
   * of the answer that has not streamed yet, as of the last block begun; other blocks count in
   * full.
   *
   * @param i which rank, from 0
   * @return at least 0, at most {@link #activeBlocks}
   */
  public double weightedBlocks(int i) {
    return Math.max(0, activeBlocks[i] - discounts[i] / 1e3);
  }

  /**
   * Blocks of the asked request that are not live on the rank. A partial last block never is.
   *
   * @param i which rank, from 0
   * @return at least 0
   */
  public int newBlocks(int i) {
    return newBlocks[i];
  }

  /**
   * Blocks that the rank's requests would take if the asked one were among them.
   *
   * @param i which rank, from 0
   * @return the sum of active and new blocks
   */
  public long potentialBlocks(int i) {
    return activeBlocks[i] + newBlocks[i];
  }

  /**
   * Prompt tokens that the rank's requests have still to compute.
   *
   * @param i which rank, from 0
   * @return at least 0
   */
  public long activePrefillTokens(int i) {
    return activePrefillTokens[i];
  }

  /**
   * Requests on the rank.
   *
   * @param i which rank, from 0
   * @return at least 0
   */
  public int activeRequests(int i) {
    return activeRequests[i];
  }

  /**
   * Removes all entries.
   *
   * @param maxRanks entries to make room for
   */
  public void clear(int maxRanks) {
    if (maxRanks > ranks.length) {
      ranks = new RankId[maxRanks];
      activeBlocks = new long[maxRanks];
      newBlocks = new int[maxRanks];
      activePrefillTokens = new long[maxRanks];
      activeRequests = new int[maxRanks];
      discounts = new long[maxRanks];
    } else {
      Arrays.fill(ranks, maxRanks, ranks.length, null);
    }
    size = 0;
  }

  /**
   * Adds the entry of a rank behind the others, which must be lower.
   *
   * @param rank the rank
   * @param blocks see {@link #activeBlocks}
   * @param added see {@link #newBlocks}
   * @param prefillTokens see {@link #activePrefillTokens}
   * @param requests see {@link #activeRequests}
   * @param discount thousandths of blocks by which {@link #weightedBlocks} is lower
   */
  public void add(
      RankId rank, long blocks, int added, long prefillTokens, int requests, long discount) {
    ranks[size] = rank;
    activeBlocks[size] = blocks;
    newBlocks[size] = added;
    activePrefillTokens[size] = prefillTokens;
    activeRequests[size] = requests;
    discounts[size++] = discount;
  }
}
