package io.kvasir.simulator.trace;

import it.unimi.dsi.fastutil.ints.IntArrayList;
import it.unimi.dsi.fastutil.ints.IntArrays;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Collects rows. Not thread-safe. */
final class TraceBuilder {

  final String file;
  final Trace.Format format;
  final int blockTokens;
  TraceUnits.Time timeUnit = TraceUnits.Time.MS;
  @Nullable TraceColumns columns;
  boolean sorted;
  private long firstArrivalNs = Long.MAX_VALUE;
  private long lastArrivalNs = Long.MIN_VALUE;
  final LongArrayList arrivalNs = new LongArrayList();
  final IntArrayList inputTokens = new IntArrayList();
  final IntArrayList outputTokens = new IntArrayList();
  final LongArrayList ids = new LongArrayList();
  final IntArrayList idOffsets = new IntArrayList(new int[] {0});
  final IntArrayList tokens = new IntArrayList();
  final IntArrayList tokenOffsets = new IntArrayList(new int[] {0});
  final IntArrayList sessions = new IntArrayList();
  final Map<String, Integer> sessionNumbers = new HashMap<>();
  final IntArrayList beginnings = new IntArrayList();
  final IntArrayList begunTokens = new IntArrayList();
  final List<String> warnings = new ArrayList<>();

  TraceBuilder(String file, Trace.Format format, int blockTokens) {
    this.file = file;
    this.format = format;
    this.blockTokens = blockTokens;
  }

  int blockTokens() {
    return blockTokens;
  }

  TraceBuilder timeUnit(TraceUnits.Time unit) {
    timeUnit = unit;
    return this;
  }

  TraceUnits.Time timeUnit() {
    return timeUnit;
  }

  TraceBuilder columns(TraceColumns named) {
    columns = named;
    return this;
  }

  /** Rows may come in any order, and are put in that of their arrival. */
  TraceBuilder sorted() {
    sorted = true;
    return this;
  }

  /** Whether a row arrives before the row above it, and must not. */
  boolean goesBack(long rowArrivalNs) {
    return !sorted && rowArrivalNs < lastArrivalNs;
  }

  int rows() {
    return arrivalNs.size();
  }

  /** The latest arrival, in the file's own time; {@link Long#MIN_VALUE} if there is none. */
  long lastArrivalNs() {
    return lastArrivalNs;
  }

  /** The earliest arrival, in the file's own time; {@link Long#MAX_VALUE} if there is none. */
  long firstArrivalNs() {
    return firstArrivalNs;
  }

  void addId(long id) {
    ids.add(id);
  }

  void addToken(int token) {
    tokens.add(token);
  }

  /** Number of tokens added since the last row. */
  int pendingTokens() {
    return tokens.size() - tokenOffsets.getInt(tokenOffsets.size() - 1);
  }

  /** Number of ids added since the last row. */
  int pendingIds() {
    return ids.size() - idOffsets.getInt(idOffsets.size() - 1);
  }

  void addRow(
      long rowArrivalNs, int rowInputTokens, int rowOutputTokens, @Nullable String session) {
    sessions.add(session == null ? -1 : number(session));
    tokenOffsets.add(tokens.size());
    arrivalNs.add(rowArrivalNs);
    firstArrivalNs = Math.min(firstArrivalNs, rowArrivalNs);
    lastArrivalNs = Math.max(lastArrivalNs, rowArrivalNs);
    inputTokens.add(rowInputTokens);
    outputTokens.add(rowOutputTokens);
    idOffsets.add(ids.size());
  }

  /** The next row begins with an earlier one, -1 for none, as far as so many tokens. */
  void beginsWith(int earlier, int begun) {
    beginnings.add(earlier);
    begunTokens.add(begun);
  }

  boolean namesSession(int row) {
    return sessions.getInt(row) >= 0;
  }

  void nameSession(int row, String session) {
    sessions.set(row, number(session));
  }

  /** The rows by arrival; those that arrive together in the order of the file. */
  int[] byArrival() {
    int[] order = new int[rows()];
    Arrays.setAll(order, row -> row);
    IntArrays.mergeSort(order, (a, b) -> Long.compare(arrivalNs.getLong(a), arrivalNs.getLong(b)));
    return order;
  }

  /** The same rows by arrival. */
  private TraceBuilder inOrder() {
    TraceBuilder other = new TraceBuilder(file, format, blockTokens).timeUnit(timeUnit).sorted();
    other.columns = columns;
    other.warnings.addAll(warnings);
    for (int row : byArrival()) {
      for (int at = idOffsets.getInt(row); at < idOffsets.getInt(row + 1); at++) {
        other.addId(ids.getLong(at));
      }
      for (int at = tokenOffsets.getInt(row); at < tokenOffsets.getInt(row + 1); at++) {
        other.addToken(tokens.getInt(at));
      }
      other.addRow(
          arrivalNs.getLong(row),
          inputTokens.getInt(row),
          outputTokens.getInt(row),
          namesSession(row) ? Integer.toString(sessions.getInt(row)) : null);
    }
    return other;
  }

  private int number(String session) {
    int next = sessionNumbers.size();
    Integer known = sessionNumbers.putIfAbsent(session, next);
    return known == null ? next : known;
  }

  void warn(String sentence) {
    warnings.add(sentence);
  }

  Trace build() {
    return new Trace(sorted ? inOrder() : this);
  }
}
