package io.kvasir.benchmarks.index;

import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.index.RankMatches;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Replays a corpus on one thread at full speed. Calls are synchronous, so nothing remains to drain
 * at the end. Stateless.
 */
final class StraightReplay {

  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private StraightReplay() {}

  /** Which operations are replayed. */
  enum Part {
    ALL,
    QUERIES,
    CHANGES
  }

  /** Replays the operations, timing each call and the whole run. */
  static ReplayFigures run(Corpus corpus, PrefixIndex index, Part part) {
    CorpusCounts counts = corpus.counts();
    Latencies lookups = new Latencies(part == Part.CHANGES ? 0 : counts.queries());
    Latencies applies = new Latencies(part == Part.QUERIES ? 0 : counts.changes());
    RankMatches matches = new RankMatches();
    long failed = 0;
    int query = 0;
    int change = 0;
    long cpuBegin = THREADS.getCurrentThreadCpuTime();
    long begin = System.nanoTime();
    long before = begin;
    for (int operation = 0; operation < corpus.operations(); operation++) {
      if (corpus.isQuery(operation)) {
        if (part != Part.CHANGES) {
          long[] hashes = corpus.query(query++);
          index.match(hashes, hashes.length, matches);
          long now = System.nanoTime();
          lookups.add(now - before);
          before = now;
        }
      } else if (part != Part.QUERIES) {
        ChangeStatus status = index.apply(corpus.rank(change), corpus.change(change));
        change++;
        long now = System.nanoTime();
        applies.add(now - before);
        before = now;
        if (status != ChangeStatus.APPLIED) {
          failed++;
        }
      }
    }
    long cpuNs = THREADS.getCurrentThreadCpuTime() - cpuBegin;
    return new ReplayFigures(
        blocks(counts, part), before - begin, cpuNs, lookups.summary(), applies.summary(), failed);
  }

  private static long blocks(CorpusCounts counts, Part part) {
    return switch (part) {
      case ALL -> counts.blockOps();
      case QUERIES -> counts.queryBlocks();
      case CHANGES -> counts.storedBlocks() + counts.removedBlocks();
    };
  }

  /**
   * Replays everything once without timing.
   *
   * @return a digest that is equal for two indexes with the same answers, regardless of the order
   *     of ranks
   */
  static long answers(Corpus corpus, PrefixIndex index) {
    RankMatches matches = new RankMatches();
    long digest = 0;
    int query = 0;
    int change = 0;
    for (int operation = 0; operation < corpus.operations(); operation++) {
      if (!corpus.isQuery(operation)) {
        index.apply(corpus.rank(change), corpus.change(change));
        change++;
        continue;
      }
      long[] hashes = corpus.query(query);
      index.match(hashes, hashes.length, matches);
      long sum = 0;
      for (int i = 0; i < matches.size(); i++) {
        sum += SequenceChain.mix(matches.rank(i).workerId() + 1, matches.blocks(i));
      }
      digest = SequenceChain.mix(digest, sum + query++);
    }
    return digest;
  }
}
