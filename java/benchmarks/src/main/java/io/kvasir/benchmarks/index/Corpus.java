package io.kvasir.benchmarks.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;

/**
 * Queries and changes in the order of their times, ready to be replayed: at equal times queries
 * come first. The changes of one worker are in the order in which its pool told them.
 *
 * <p>Immutable by contract: arrays are shared, nobody writes to them. Takes 8 bytes for each query
 * and removed block and 16 for each stored one, on the heap.
 */
public final class Corpus {

  private final String description;
  private final CorpusCounts counts;
  private final LocalHashing hashing;
  private final RankId[] ranks;
  private final boolean[] isQuery;
  private final long[][] queries;
  private final long[] queryAtNs;
  private final BlockEvent[] changes;
  private final int[] changeWorker;
  private final long[] changeAtNs;

  /**
   * What it took to hash blocks, which is no part of any other figure.
   *
   * @param blocks blocks that were hashed
   * @param ns nanoseconds that it took, on one thread
   */
  public record LocalHashing(long blocks, long ns) {}

  Corpus(
      CorpusHeader header,
      boolean[] isQuery,
      long[][] queries,
      long[] queryAtNs,
      BlockEvent[] changes,
      int[] changeWorker,
      long[] changeAtNs) {
    this.description = header.description();
    this.counts = header.counts();
    this.hashing = new LocalHashing(header.hashedBlocks(), header.hashNs());
    this.isQuery = isQuery;
    this.queries = queries;
    this.queryAtNs = queryAtNs;
    this.changes = changes;
    this.changeWorker = changeWorker;
    this.changeAtNs = changeAtNs;
    this.ranks = new RankId[counts.workers()];
    for (int worker = 0; worker < ranks.length; worker++) {
      ranks[worker] = new RankId(worker, 0);
    }
  }

  /**
   * What it was made of.
   *
   * @return one line
   */
  public String description() {
    return description;
  }

  /**
   * How much there is.
   *
   * @return the counts
   */
  public CorpusCounts counts() {
    return counts;
  }

  /**
   * What hashing took.
   *
   * @return blocks and time
   */
  public LocalHashing hashing() {
    return hashing;
  }

  /** Queries and changes together. */
  int operations() {
    return isQuery.length;
  }

  /** Whether an operation is the next query; else it is the next change. */
  boolean isQuery(int operation) {
    return isQuery[operation];
  }

  /** Sequence hashes of a query. */
  long[] query(int query) {
    return queries[query];
  }

  long queryAtNs(int query) {
    return queryAtNs[query];
  }

  BlockEvent change(int change) {
    return changes[change];
  }

  /** Whose a change is. */
  RankId rank(int change) {
    return ranks[changeWorker[change]];
  }

  long changeAtNs(int change) {
    return changeAtNs[change];
  }

  /** From the first operation's time to the last one's, in the trace's time; at least 1. */
  long spanNs() {
    long last = 1;
    if (queryAtNs.length > 0) {
      last = Math.max(last, queryAtNs[queryAtNs.length - 1]);
    }
    if (changeAtNs.length > 0) {
      last = Math.max(last, changeAtNs[changeAtNs.length - 1]);
    }
    return last;
  }
}
