package io.kvasir.simulator.indexbench;

import io.kvasir.index.PrefixIndex;
import java.util.ArrayList;
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
  private final List<Long> windowsNs;

  /**
   * Sets a measurement up.
   *
   * @param corpus what is replayed
   * @param windowsNs time into which the corpus's own is pressed, for each replay against deadlines
   */
  public IndexMeasurement(Corpus corpus, List<Long> windowsNs) {
    this.corpus = corpus;
    this.windowsNs = List.copyOf(windowsNs);
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
    ReplayFigures all;
    ReplayFigures reads;
    ResidentMemory resident;
    try (PrefixIndex index = kind.create()) {
      all = StraightReplay.run(corpus, index, StraightReplay.Part.ALL);
      resident = ResidentMemory.of(index.stats());
      reads = StraightReplay.run(corpus, index, StraightReplay.Part.QUERIES);
    }
    ReplayFigures writes;
    try (PrefixIndex index = kind.create()) {
      writes = StraightReplay.run(corpus, index, StraightReplay.Part.CHANGES);
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
        all,
        reads,
        writes,
        List.copyOf(deadlines),
        resident,
        MembershipMemory.measure(kind, 1),
        MembershipMemory.measure(kind, 16));
  }
}
