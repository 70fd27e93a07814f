package io.kvasir.benchmarks.index;

import io.kvasir.fleet.index.PrefixIndex;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Measures one index on a corpus: a first replay to warm up and to note the answers, then one on a
 * single thread, reads and writes alone, and one against deadlines for each window. Every replay
 * starts with an empty index, but for reads alone, which follow a whole one.
 *
 * <p>Not thread-safe; a replay against deadlines uses a second thread.
 */
public final class IndexMeasurement {

  private final Corpus corpus;
  private final int runs;
  private final List<Long> windowsNs;
  private final int memberships;

  /**
   * Sets a measurement up.
   *
   * @param corpus what is replayed
   * @param runs how often it is replayed on one thread, at least 1; the median counts
   * @param windowsNs time into which the corpus's own is pressed, for each replay against deadlines
   * @param memberships from which, up to twice as many, memory is measured, 1 to 2^28
   */
  public IndexMeasurement(Corpus corpus, int runs, List<Long> windowsNs, int memberships) {
    if (runs < 1) {
      throw new IllegalArgumentException("runs must be at least 1, not " + runs);
    }
    this.corpus = corpus;
    this.runs = runs;
    this.windowsNs = List.copyOf(windowsNs);
    this.memberships = memberships;
  }

  /**
   * Measures an index. Takes several replays.
   *
   * @param kind which
   * @return the figures
   * @throws InterruptedException if this thread is interrupted
   */
  public IndexFigures measure(IndexKind kind) throws InterruptedException {
    long answers;
    try (PrefixIndex index = kind.create()) {
      answers = StraightReplay.answers(corpus, index);
    }
    List<ReplayFigures> all = new ArrayList<>();
    List<ReplayFigures> reads = new ArrayList<>();
    List<ReplayFigures> writes = new ArrayList<>();
    ResidentMemory resident = null;
    for (int run = 0; run < runs; run++) {
      try (PrefixIndex index = kind.create()) {
        all.add(StraightReplay.run(corpus, index, StraightReplay.Part.ALL));
        resident = ResidentMemory.of(index.stats());
        reads.add(StraightReplay.run(corpus, index, StraightReplay.Part.QUERIES));
      }
      try (PrefixIndex index = kind.create()) {
        writes.add(StraightReplay.run(corpus, index, StraightReplay.Part.CHANGES));
      }
    }
    List<DeadlineFigures> deadlines = new ArrayList<>();
    for (long windowNs : windowsNs) {
      try (PrefixIndex index = kind.create()) {
        deadlines.add(new DeadlineReplay(corpus, index, windowNs).run());
      }
    }
    return new IndexFigures(
        kind,
        answers,
        median(all),
        median(reads),
        median(writes),
        List.copyOf(deadlines),
        resident,
        MembershipMemory.measure(kind, 1, memberships),
        MembershipMemory.measure(kind, 16, memberships));
  }

  /** The run whose time is in the middle. */
  private static ReplayFigures median(List<ReplayFigures> runs) {
    return runs.stream()
        .sorted(Comparator.comparingLong(ReplayFigures::ns))
        .skip((runs.size() - 1) / 2)
        .findFirst()
        .orElseThrow();
  }
}
