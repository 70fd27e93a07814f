package io.kvasir.benchmarks.index;

import io.kvasir.event.BlockEvent;
import io.kvasir.model.RankId;
import java.util.BitSet;

/**
 * Queries and changes in time order, ready to be replayed. At equal times queries come first. The
 * changes of one worker are in the order in which its pool reported them.
 *
 * <p>Immutable by contract: arrays are shared and must not be modified. Takes 8 bytes of heap for
 * each query block and removed block, and 16 for each stored one.
 */
public final class Corpus {

  private final String description;
  private final CorpusCounts counts;
  private final LocalHashing hashing;
  private final RankId[] ranks;
  private final BitSet isQuery;
  private final long[][] queries;
  private final long[] queryAtNs;
  private final BlockEvent[] changes;
  private final int[] changeWorker;
  private final long[] changeAtNs;

  /**
   * The cost of hashing the blocks, which is excluded from all other figures.
   *
   * @param blocks hashed blocks
   * @param ns nanoseconds spent, on one thread
   */
  public record LocalHashing(long blocks, long ns) {}

  Corpus(String description, LocalHashing hashing, CorpusRecorder recorded) {
    this.description = description;
    this.counts = recorded.counts();
    this.hashing = hashing;
    this.isQuery = recorded.isQuery();
    this.queries = recorded.queries();
    this.queryAtNs = recorded.queryAtNs();
    this.changes = recorded.changes();
    this.changeWorker = recorded.changeWorker();
    this.changeAtNs = recorded.changeAtNs();
    this.ranks = new RankId[counts.workers()];
    for (int worker = 0; worker < ranks.length; worker++) {
      ranks[worker] = new RankId(worker, 0);
    }
  }

  /** {@return one line on how the corpus was generated} */
  public String description() {
    return description;
  }

  /** {@return the size of the corpus} */
  public CorpusCounts counts() {
    return counts;
  }

  /** {@return the cost of hashing: blocks and time} */
  public LocalHashing hashing() {
    return hashing;
  }

  /** Queries and changes together. */
  int operations() {
    return queries.length + changes.length;
  }

  /** Whether an operation is the next query; otherwise it is the next change. */
  boolean isQuery(int operation) {
    return isQuery.get(operation);
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

  /** The rank of a change. */
  RankId rank(int change) {
    return ranks[changeWorker[change]];
  }

  long changeAtNs(int change) {
    return changeAtNs[change];
  }

  /** Time from the first operation to the last, in the trace's time; at least 1. */
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
