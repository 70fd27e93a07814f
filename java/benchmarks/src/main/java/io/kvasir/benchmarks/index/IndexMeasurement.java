package io.kvasir.benchmarks.index;

import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.model.Checks;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/**
 * Measures one index on a corpus: a first replay to warm up and record the answers, then replays on
 * a single thread (all operations, reads only, writes only), and one against deadlines for each
 * window. Every replay starts with an empty index, except reads only, which follow a full replay.
 *
 * <p>Not thread-safe; a replay against deadlines uses a second thread.
 */
public final class IndexMeasurement {

  private final Corpus corpus;
  private final int runs;
  private final List<Long> windowsNs;
  private final int memberships;

  /**
   * Creates a measurement.
   *
   * @param corpus the corpus to replay
   * @param runs number of replays on one thread, at least 1; the median is reported
   * @param windowsNs a window for each replay against deadlines; the corpus's time span is
   *     compressed to it
   * @param memberships memory is measured at sizes from this up to twice this, 1 to 2^28
   */
  public IndexMeasurement(Corpus corpus, int runs, List<Long> windowsNs, int memberships) {
    Checks.atLeast("runs", runs, 1);
    this.corpus = corpus;
    this.runs = runs;
    this.windowsNs = List.copyOf(windowsNs);
    this.memberships = memberships;
  }

  /**
   * Measures an index with several replays.
   *
   * @param kind the index
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
        Objects.requireNonNull(resident, "runs"),
        MembershipMemory.measure(kind, 1, memberships),
        MembershipMemory.measure(kind, 16, memberships));
  }

  /** The run with the median time. */
  private static ReplayFigures median(List<ReplayFigures> runs) {
    return runs.stream()
        .sorted(Comparator.comparingLong(ReplayFigures::ns))
        .skip((runs.size() - 1) / 2)
        .findFirst()
        .orElseThrow();
  }
}
