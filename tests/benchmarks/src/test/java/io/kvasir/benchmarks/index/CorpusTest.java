package io.kvasir.benchmarks.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvasir.event.BlockEvent;
import io.kvasir.fleet.index.ChangeStatus;
import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.simulator.trace.Trace;
import io.kvasir.simulator.trace.TraceReader;
import io.kvasir.simulator.trace.TraceReading;
import io.kvasir.simulator.trace.TraceUnits;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CorpusTest {

  private static final TraceReading OF_FILE =
      new TraceReading(new TraceUnits(null, null), null, false);

  private static final CorpusGenerator.Progress SILENT = (done, planned) -> {};

  @TempDir private Path folder;

  /** The check vector of spec/index-and-prediction.md, section 6.1. */
  @Test
  void idsAreStretchedAndCopiesHaveTheirOwn() throws IOException {
    ScaledTrace scaled = new ScaledTrace(trace(List.of("[0,1,2]", "[0,1,3,4]")), 2, 2);
    assertThat(scaled.ids(0, 0)).containsExactly(0, 1, 2, 3, 4, 5);
    assertThat(scaled.ids(0, 1)).containsExactly(10, 11, 12, 13, 14, 15);
    assertThat(scaled.ids(1, 0)).containsExactly(0, 1, 2, 3, 6, 7, 8, 9);
    assertThat(scaled.ids(1, 1)).containsExactly(10, 11, 12, 13, 16, 17, 18, 19);
    assertThat(scaled.ids()).isEqualTo(20);
    assertThat(scaled.longest()).isEqualTo(8);
  }

  @Test
  void everyChangeTakesEffectAndNoPoolHoldsMoreThanItsBlocks() throws IOException {
    for (boolean shared : new boolean[] {false, true}) {
      Corpus corpus = corpus(new CorpusShape(4, 3, 2, 40, shared, 42));
      CorpusCounts counts = corpus.counts();
      assertThat(counts.queries()).isEqualTo(600);
      assertThat(counts.removedBlocks()).isPositive();
      try (PrefixIndex index = IndexKind.RADIX.create()) {
        long[] held = new long[4];
        for (int change = 0; change < counts.changes(); change++) {
          assertThat(index.apply(corpus.rank(change), corpus.change(change)))
              .isEqualTo(ChangeStatus.APPLIED);
          held[(int) corpus.rank(change).workerId()] +=
              corpus.change(change) instanceof BlockEvent.Stored stored
                  ? stored.handles().length
                  : -((BlockEvent.Removed) corpus.change(change)).handles().length;
          assertThat(held[(int) corpus.rank(change).workerId()]).isBetween(0L, 40L);
        }
        assertThat(index.stats().memberships())
            .isEqualTo(counts.storedBlocks() - counts.removedBlocks());
      }
    }
  }

  @Test
  void workersNameEqualBlocksDifferentlyUnlessHandlesAreShared() throws IOException {
    Corpus perRank = corpus(new CorpusShape(4, 1, 1, 1000, false, 42));
    Corpus shared = corpus(new CorpusShape(4, 1, 1, 1000, true, 42));
    assertThat(distinctHandles(perRank)).isEqualTo(perRank.counts().storedBlocks());
    assertThat(distinctHandles(shared)).isLessThan(shared.counts().storedBlocks());
  }

  private static long distinctHandles(Corpus corpus) {
    LongOpenHashSet handles = new LongOpenHashSet();
    for (int change = 0; change < corpus.counts().changes(); change++) {
      if (corpus.change(change) instanceof BlockEvent.Stored stored) {
        handles.addAll(LongOpenHashSet.of(stored.handles()));
      }
    }
    return handles.size();
  }

  @Test
  void queriesComeBeforeTheChangesOfTheirTime() throws IOException {
    Corpus corpus = corpus(new CorpusShape(4, 3, 2, 40, false, 42));
    int query = 0;
    int change = 0;
    long changedAtNs = -1;
    for (int operation = 0; operation < corpus.operations(); operation++) {
      if (corpus.isQuery(operation)) {
        assertThat(corpus.queryAtNs(query++)).isGreaterThan(changedAtNs);
      } else {
        changedAtNs = corpus.changeAtNs(change++);
        assertThat(changedAtNs).isEqualTo(corpus.queryAtNs(query - 1));
      }
    }
  }

  @Test
  void twoGenerationsDifferInNothing() throws IOException {
    CorpusShape shape = new CorpusShape(4, 3, 2, 40, false, 42);
    Corpus first = corpus(shape);
    Corpus second = corpus(shape);
    assertThat(second.counts()).isEqualTo(first.counts());
    assertThat(second.operations()).isEqualTo(first.operations());
    int query = 0;
    int change = 0;
    for (int operation = 0; operation < first.operations(); operation++) {
      assertThat(second.isQuery(operation)).isEqualTo(first.isQuery(operation));
      if (first.isQuery(operation)) {
        assertThat(second.queryAtNs(query)).isEqualTo(first.queryAtNs(query));
        assertThat(second.query(query)).isEqualTo(first.query(query++));
      } else {
        assertThat(second.changeAtNs(change)).isEqualTo(first.changeAtNs(change));
        assertThat(second.rank(change)).isEqualTo(first.rank(change));
        assertThat(second.change(change))
            .usingRecursiveComparison()
            .isEqualTo(first.change(change++));
      }
    }
  }

  @Test
  void whatCannotBePlayedIsRefused() throws IOException {
    Trace trace = trace(List.of("[0,1,2]", "[0,1,3,4]"));
    assertThatThrownBy(
            () -> CorpusGenerator.generate(trace, new CorpusShape(1, 1, 2, 7, false, 1), SILENT))
        .hasMessage("poolBlocks must be at least 8, the trace's longest row, not 7");
    assertThatThrownBy(() -> new ScaledTrace(trace(List.of("[2147483647]")), 1, 2))
        .hasMessageContaining("at most 2147483647 are allowed");
    assertThatThrownBy(() -> new CorpusShape(0, 1, 1, 1, false, 1))
        .hasMessage("workers must be within 1 to 65536, not 0");
  }

  /** A corpus of random conversations. */
  private Corpus corpus(CorpusShape shape) throws IOException {
    Random random = new Random(7);
    List<String> rows = new ArrayList<>();
    for (int row = 0; row < 200; row++) {
      StringBuilder ids = new StringBuilder("[0");
      int conversation = random.nextInt(30);
      int blocks = random.nextInt(12);
      for (int i = 0; i < blocks; i++) {
        ids.append(',').append(1 + conversation * 12 + i);
      }
      rows.add(ids.append(']').toString());
    }
    return CorpusGenerator.generate(trace(rows), shape, SILENT);
  }

  private Trace trace(List<String> idsOfRows) throws IOException {
    List<String> lines = new ArrayList<>();
    for (String ids : idsOfRows) {
      int count = ids.split(",", -1).length;
      lines.add(
          "{\"timestamp\":%d,\"input_length\":%d,\"output_length\":1,\"hash_ids\":%s}"
              .formatted(lines.size() / 3 * 1000, count * 512, ids));
    }
    Path file = folder.resolve("trace.jsonl");
    Files.write(file, lines);
    return TraceReader.read(file, OF_FILE);
  }
}
