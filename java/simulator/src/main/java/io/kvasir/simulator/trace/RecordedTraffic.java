package io.kvasir.simulator.trace;

import io.kvasir.fleet.record.InvalidRecordingException;
import io.kvasir.fleet.record.RecordedEvent;
import io.kvasir.fleet.record.RecordingReader;
import io.kvasir.fleet.record.ServedRequest;
import io.kvasir.fleet.record.ServedRequestReader;
import io.kvasir.model.Errors;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the requests that {@code kvasir serve --record} wrote, as a trace. Rows are in order of
 * their arrivals, though a recording is in order of their ends. Its block events are skipped.
 *
 * <p>A request that goes on behind the answer of an earlier one begins with that answer in the
 * replay too. It is taken to do so if the deepest block that it shares is the last full one of the
 * earlier prompt, the earlier request had ended when it arrived, and it is long enough; unless both
 * name different conversations, or the engine had only the earlier prompt, and not its answer, in
 * the cache of the same rank.
 */
public final class RecordedTraffic {

  private static final double NS_PER_MS = 1e6;

  /**
   * A request.
   *
   * @param blocks the names of its blocks, different for different models
   * @param arrivedMs when it arrived, in milliseconds since the recording's start
   * @param endedMs when it ended
   */
  @SuppressWarnings("ArrayRecordComponent") // value semantics of the array are never used
  private record Row(ServedRequest request, long[] blocks, double arrivedMs, double endedMs) {

    static Row of(ServedRequest request, double endedMs) {
      long key = ServedRequestReader.modelKey(request.model());
      long[] blocks = request.blocks().clone();
      for (int i = 0; i < blocks.length; i++) {
        blocks[i] ^= key;
      }
      return new Row(request, blocks, Math.max(0, endedMs - request.tookMs()), endedMs);
    }
  }

  private RecordedTraffic() {}

  /**
   * Reads a recording. O(bytes), and O(n log n) for n requests.
   *
   * @param file the recording
   * @return its requests
   * @throws InvalidTraceException if the file is missing or damaged, has no requests, or has blocks
   *     of several sizes
   * @throws IOException if the file cannot be read
   */
  public static Trace read(Path file) throws IOException {
    List<Row> rows = new ArrayList<>();
    ServedRequestReader requests = new ServedRequestReader();
    long torn;
    try (RecordingReader reader = RecordingReader.open(file)) {
      long number = 1;
      for (RecordedEvent event = reader.next(); event != null; event = reader.next(), number++) {
        Row row = row(file, number, event, requests);
        if (row != null) {
          rows.add(row);
        }
      }
      torn = reader.tornLines();
    } catch (InvalidRecordingException e) {
      throw new InvalidTraceException(String.valueOf(e.getMessage()), e);
    }
    if (rows.isEmpty()) {
      throw new InvalidTraceException(
          Errors.shown(file) + ": has no requests; kvasir serve --record FILE records them");
    }
    int skipped = dropFormerSizes(rows);
    rows.sort(Comparator.comparingDouble(Row::arrivedMs));
    TraceBuilder trace =
        new TraceBuilder(file.toString(), Trace.Format.RECORDING, tokensPerBlock(file, rows));
    Beginnings beginnings = new Beginnings(rows);
    for (int i = 0; i < rows.size(); i++) {
      add(trace, rows.get(i), beginnings.of(i));
    }
    if (skipped > 0) {
      trace.warn(
          "skipped "
              + skipped
              + " requests from before the gateway found the block size of their model");
    }
    if (torn > 0) {
      trace.warn("skipped an unfinished last line");
    }
    return trace.build();
  }

  private static @Nullable Row row(
      Path file, long number, RecordedEvent event, ServedRequestReader requests)
      throws InvalidTraceException {
    try {
      ServedRequest request = requests.read(event.json());
      return request == null ? null : Row.of(request, (double) event.timestampMs());
    } catch (InvalidRecordingException e) {
      throw new InvalidTraceException(
          Errors.shown(file) + ": event " + number + ": " + e.getMessage(), e);
    }
  }

  /** A gateway finds the block size of a model by its first events; the last one is right. */
  private static int dropFormerSizes(List<Row> rows) {
    Map<String, Integer> last = new HashMap<>();
    rows.forEach(row -> last.put(row.request().model(), row.request().tokensPerBlock()));
    int before = rows.size();
    rows.removeIf(
        row -> row.request().tokensPerBlock() != last.getOrDefault(row.request().model(), 0));
    return before - rows.size();
  }

  private static int tokensPerBlock(Path file, List<Row> rows) throws InvalidTraceException {
    ServedRequest first = rows.get(0).request();
    for (Row row : rows) {
      ServedRequest other = row.request();
      if (other.tokensPerBlock() != first.tokensPerBlock()) {
        throw new InvalidTraceException(
            Errors.shown(file)
                + ": has models with blocks of different sizes, "
                + first.tokensPerBlock()
                + " tokens for "
                + Errors.shown(first.model())
                + " and "
                + other.tokensPerBlock()
                + " for "
                + Errors.shown(other.model())
                + "; replay the lines of one model: grep '\"model\":\"NAME\"' FILE");
      }
    }
    return first.tokensPerBlock();
  }

  private static void add(TraceBuilder trace, Row row, Beginning beginning) {
    ServedRequest request = row.request();
    for (long block : row.blocks()) {
      trace.addId(block);
    }
    trace.beginsWith(beginning.row(), beginning.tokens());
    trace.addRow(
        Math.round(row.arrivedMs() * NS_PER_MS),
        request.inputTokens(),
        request.outputTokens(),
        request.conversation());
  }

  /** An earlier row, with whose prompt and answer a row begins. */
  private record Beginning(int row, int tokens) {
    static final Beginning NONE = new Beginning(-1, 0);
  }

  /** Finds what rows begin with. Asked in order of arrivals. */
  private static final class Beginnings {

    /** Ends of recorded requests are known to a few milliseconds only. */
    private static final double CLOCK_MS = 100;

    private final List<Row> rows;

    /** The first row that has a block. All rows with it begin alike up to its end. */
    private final Long2IntOpenHashMap holders = new Long2IntOpenHashMap();

    /** The latest row whose last full block it is. */
    private final Long2IntOpenHashMap latest = new Long2IntOpenHashMap();

    Beginnings(List<Row> rows) {
      this.rows = rows;
      holders.defaultReturnValue(-1);
      latest.defaultReturnValue(-1);
    }

    /** O(blocks). */
    Beginning of(int index) {
      Row row = rows.get(index);
      long[] blocks = row.blocks();
      int shared = blocks.length;
      while (shared > 0 && !holders.containsKey(blocks[shared - 1])) {
        shared--;
      }
      Beginning found = Beginning.NONE;
      if (shared > 0) {
        int before = latest.get(blocks[shared - 1]);
        found =
            before >= 0 && goesOn(rows.get(before), row)
                ? new Beginning(before, tokensOf(rows.get(before).request()))
                : new Beginning(
                    holders.get(blocks[shared - 1]), shared * row.request().tokensPerBlock());
      }
      for (int i = shared; i < blocks.length; i++) {
        holders.put(blocks[i], index);
      }
      if (blocks.length > 0) {
        latest.put(blocks[blocks.length - 1], index);
      }
      return found;
    }

    private static boolean goesOn(Row earlier, Row row) {
      ServedRequest before = earlier.request();
      ServedRequest after = row.request();
      if (earlier.endedMs() > row.arrivedMs() + CLOCK_MS
          || tokensOf(before) > after.inputTokens()
          || before.form() != after.form()) {
        return false;
      }
      if (before.conversation() != null && after.conversation() != null) {
        return before.conversation().equals(after.conversation());
      }
      return !isContradicted(before, after);
    }

    /**
     * The rank had all full blocks of the earlier prompt, and not the next one, with its answer.
     */
    private static boolean isContradicted(ServedRequest before, ServedRequest after) {
      int full = before.blocks().length * before.tokensPerBlock();
      return after.worker().equals(before.worker())
          && after.dpRank() == before.dpRank()
          && after.cachedTokens() == full
          && tokensOf(before) - 1 - full >= before.tokensPerBlock();
    }

    private static int tokensOf(ServedRequest request) {
      return request.inputTokens() + Math.max(1, request.outputTokens());
    }
  }
}
