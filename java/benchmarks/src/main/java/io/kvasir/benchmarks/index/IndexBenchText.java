package io.kvasir.benchmarks.index;

import io.kvasir.simulator.report.Numbers;
import io.kvasir.simulator.report.TextTable;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * Formats index measurements as a table with a column per index; two indexes get a column with the
 * ratio of the first to the last, which is the baseline.
 *
 * <p>Stateless.
 */
public final class IndexBenchText {

  private static final double MILLION = 1e6;
  private static final double NS_PER_US = 1e3;
  private static final double NS_PER_MS = 1e6;
  private static final double NS_PER_S = 1e9;

  private IndexBenchText() {}

  /**
   * Describes the corpus.
   *
   * @param corpus the replayed corpus
   * @return lines
   */
  public static String corpus(Corpus corpus) {
    CorpusCounts counts = corpus.counts();
    return String.format(
        Locale.ROOT,
        "%s%n%,d queries of %,d blocks, %,d events of %,d stored and %,d removed blocks: %,d block"
            + " operations%nlocal hashes: %,d blocks in %.2f s, excluded from all other figures%n%n",
        corpus.description(),
        counts.queries(),
        counts.queryBlocks(),
        counts.changes(),
        counts.storedBlocks(),
        counts.removedBlocks(),
        counts.blockOps(),
        corpus.hashing().blocks(),
        corpus.hashing().ns() / NS_PER_S);
  }

  /**
   * The table.
   *
   * @param all the measurements, the baseline last
   * @return lines
   */
  public static String table(List<IndexFigures> all) {
    Columns columns = new Columns(all);
    columns.text("", figures -> figures.kind().id());
    columns.text("one thread", figures -> "");
    columns.figure("  M block-ops/s", 2, f -> f.all().blockOpsPerSecond() / MILLION);
    columns.figure("  M block-ops a CPU second", 2, f -> f.all().blockOpsPerCpuSecond() / MILLION);
    latency(columns, "  look-up", f -> f.all().lookups());
    latency(columns, "  apply", f -> f.all().applies());
    columns.figure("  reads alone, M blocks/s", 2, f -> f.reads().blockOpsPerSecond() / MILLION);
    latency(columns, "  reads alone", f -> f.reads().lookups());
    columns.figure("  writes alone, M blocks/s", 2, f -> f.writes().blockOpsPerSecond() / MILLION);
    columns.figure("  changes that failed", 0, f -> f.all().failed());
    for (int i = 0; i < all.get(0).deadlines().size(); i++) {
      deadline(columns, i, all.get(0).deadlines().get(i));
    }
    columns.text("memory", figures -> "");
    columns.figure("  memberships at the end", 0, f -> f.resident().memberships());
    columns.figure("  bytes a membership", 1, f -> f.resident().bytesPerMembership());
    columns.figure("  with one holder, mean", 1, f -> f.oneHolder().meanBytes());
    columns.figure("  with one holder, worst", 1, f -> f.oneHolder().worstBytes());
    columns.figure("  with sixteen, mean", 1, f -> f.sixteenHolders().meanBytes());
    columns.figure("  with sixteen, worst", 1, f -> f.sixteenHolders().worstBytes());
    StringBuilder out = new StringBuilder();
    columns.table.appendTo(out);
    return out.toString();
  }

  private static void deadline(Columns columns, int i, DeadlineFigures any) {
    columns.text(
        String.format(
            Locale.ROOT,
            "deadlines, %,.0f ms, %.2f M block-ops/s offered",
            any.windowNs() / NS_PER_MS,
            any.offered() / MILLION),
        figures -> "");
    columns.figure("  M block-ops/s, drained", 2, f -> f.deadlines().get(i).drained() / MILLION);
    columns.text("  kept up", f -> yes(f.deadlines().get(i).keptUp()));
    columns.text("  valid", f -> yes(f.deadlines().get(i).valid()));
    latency(columns, "  look-up", f -> f.deadlines().get(i).lookups());
    latency(columns, "  due to answered", f -> f.deadlines().get(i).answered());
    latency(columns, "  apply", f -> f.deadlines().get(i).applies());
    latency(columns, "  due to applied", f -> f.deadlines().get(i).applied());
  }

  private static void latency(
      Columns columns, String name, Function<IndexFigures, LatencySummary> of) {
    columns.figure(name + " p50 us", 2, f -> of.apply(f).p50() / NS_PER_US);
    columns.figure(name + " p99 us", 2, f -> of.apply(f).p99() / NS_PER_US);
    columns.figure(name + " p99.9 us", 2, f -> of.apply(f).p999() / NS_PER_US);
  }

  private static String yes(boolean value) {
    return value ? "yes" : "no";
  }

  /** Rows with a column for each index. */
  private static final class Columns {
    private final List<IndexFigures> all;
    private final TextTable table = new TextTable();

    Columns(List<IndexFigures> all) {
      this.all = all;
    }

    void text(String name, Function<IndexFigures, String> value) {
      add(name, value, "");
    }

    void figure(String name, int decimals, ToDoubleFunction<IndexFigures> value) {
      double ratio = value.applyAsDouble(all.get(0)) / value.applyAsDouble(all.get(all.size() - 1));
      boolean compares = all.size() > 1 && Double.isFinite(ratio);
      add(
          name,
          figures -> Numbers.decimals(value.applyAsDouble(figures), decimals),
          compares ? "x " + Numbers.decimals(ratio, 2) : "");
    }

    private void add(String name, Function<IndexFigures, String> value, String last) {
      String[] cells = new String[all.size() + 2];
      cells[0] = name;
      for (int i = 0; i < all.size(); i++) {
        cells[i + 1] = value.apply(all.get(i));
      }
      cells[cells.length - 1] = last;
      table.row(cells);
    }
  }
}
