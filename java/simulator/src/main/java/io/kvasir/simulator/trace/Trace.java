package io.kvasir.simulator.trace;

import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a trace file, in columns: arrival times, prompt and answer lengths, conversations,
 * and either the ids of the prompts' blocks or their tokens. About 40 bytes per row, 8 per id and 4
 * per token.
 *
 * <p>Immutable once built. Times are nanoseconds since the first row.
 */
public final class Trace {

  /** Longest prompt and longest answer of a row, in tokens. */
  public static final int MAX_TOKENS = 1 << 24;

  private static final int[] NONE = {};

  /** The supported formats. */
  public enum Format {
    /** One JSON object per line, with block ids, runs of them, or tokens. */
    MOONCAKE,
    /** CSV with arrival times and lengths only; shared prefixes are unknown. */
    AZURE,
    /** CSV of other columns, which may name conversations; shared prefixes are unknown. */
    CSV,
    /** What {@code kvasir serve --record} wrote, with block ids. */
    RECORDING
  }

  private final String file;
  private final Format format;
  private final int blockTokens;
  private final TraceUnits.Time timeUnit;
  private final @Nullable TraceColumns columns;
  private final boolean sorted;
  private final long[] arrivalNs;
  private final int[] inputTokens;
  private final int[] outputTokens;
  private final long[] ids;
  private final int[] idOffsets;
  private final int[] tokens;
  private final int[] tokenOffsets;
  private final int[] sessions;
  private final int[] beginnings;
  private final int[] begunTokens;
  private final List<String> warnings;

  Trace(TraceBuilder builder) {
    this.file = builder.file;
    this.format = builder.format;
    this.blockTokens = builder.blockTokens;
    this.timeUnit = builder.timeUnit;
    this.columns = builder.columns;
    this.sorted = builder.sorted;
    this.arrivalNs = builder.arrivalNs.toLongArray();
    this.inputTokens = builder.inputTokens.toIntArray();
    this.outputTokens = builder.outputTokens.toIntArray();
    this.ids = builder.ids.toLongArray();
    this.idOffsets = builder.idOffsets.toIntArray();
    this.tokens = builder.tokens.toIntArray();
    this.tokenOffsets = builder.tokenOffsets.toIntArray();
    this.sessions = builder.sessionNumbers.isEmpty() ? NONE : builder.sessions.toIntArray();
    this.beginnings = builder.beginnings.toIntArray();
    this.begunTokens = builder.begunTokens.toIntArray();
    this.warnings = List.copyOf(builder.warnings);
    long first = arrivalNs.length == 0 ? 0 : arrivalNs[0];
    for (int row = 0; row < arrivalNs.length; row++) {
      arrivalNs[row] -= first;
    }
  }

  /** {@return the file that the trace was read from, as the user named it} */
  public String file() {
    return file;
  }

  /** {@return the format of the file} */
  public Format format() {
    return format;
  }

  /** {@return the number of tokens per id, at least 1; the last id of a row may stand for fewer} */
  public int blockTokens() {
    return blockTokens;
  }

  /** {@return the unit of the file's timestamps, if they are numbers} */
  public TraceUnits.Time timeUnit() {
    return timeUnit;
  }

  /** {@return the columns of a file with format {@link Format#CSV}; null for other formats} */
  public @Nullable TraceColumns columns() {
    return columns;
  }

  /** {@return whether rows were put in order of their arrival} */
  public boolean isSorted() {
    return sorted;
  }

  /** {@return the number of requests, at least 1} */
  public int rows() {
    return arrivalNs.length;
  }

  /**
   * When a request arrived, in nanoseconds since the first row.
   *
   * @param row the row, from 0
   * @return at least 0; never less than the previous row's
   */
  public long arrivalNs(int row) {
    return arrivalNs[row];
  }

  /**
   * Length of a prompt.
   *
   * @param row the row, from 0
   * @return 1 to {@link #MAX_TOKENS}
   */
  public int inputTokens(int row) {
    return inputTokens[row];
  }

  /**
   * Length of an answer.
   *
   * @param row the row, from 0
   * @return 0 to {@link #MAX_TOKENS}
   */
  public int outputTokens(int row) {
    return outputTokens[row];
  }

  /**
   * Number of ids that a row lists: at most its prompt's blocks, the last, partial one included.
   *
   * @param row the row, from 0
   * @return at least 0
   */
  public int idCount(int row) {
    return idOffsets[row + 1] - idOffsets[row];
  }

  /**
   * One of a row's ids. Equal ids mean equal tokens after equal prefixes.
   *
   * @param row the row, from 0
   * @param index index of the id, from 0
   * @return any number
   */
  public long id(int row, int index) {
    return ids[idOffsets[row] + index];
  }

  /**
   * The tokens that a row lists.
   *
   * @param row the row, from 0
   * @return all of its prompt's tokens, or none; a copy
   */
  public int[] tokens(int row) {
    return Arrays.copyOfRange(tokens, tokenOffsets[row], tokenOffsets[row + 1]);
  }

  /** {@return whether a row of the file names its conversation} */
  public boolean namesSessions() {
    return sessions.length > 0;
  }

  /**
   * The conversation that a row names. Only if {@link #namesSessions()}.
   *
   * @param row the row, from 0
   * @return a number from 0, in order of the first rows; -1 if the row names none
   */
  public int session(int row) {
    return sessions[row];
  }

  /**
   * The row with which a row begins: with its prompt, or with prompt and answer.
   *
   * @param row the row, from 0
   * @return an earlier row; -1 if none is known
   */
  public int beginning(int row) {
    return beginnings.length == 0 ? -1 : beginnings[row];
  }

  /**
   * How much of the prompt and answer of {@link #beginning} a row begins with.
   *
   * @param row the row, from 0
   * @return tokens, at most those of the row's prompt; 0 if there is no such row
   */
  public int begunTokens(int row) {
    return begunTokens.length == 0 ? 0 : begunTokens[row];
  }

  /** {@return whether rows list ids of blocks, or tokens, so that equal beginnings show} */
  public boolean namesBlocks() {
    return format == Format.MOONCAKE || format == Format.RECORDING;
  }

  /**
   * {@return the warnings about the file that do not make the trace invalid; a few sentences at
   * most}
   */
  public List<String> warnings() {
    return warnings;
  }

  /**
   * The share of ids that an unbounded shared cache would match: for each row, the leading ids that
   * earlier rows have. O(ids).
   *
   * @return 0 to 1; 0 if no ids are listed
   */
  public double blockUpperBound() {
    LongOpenHashSet seen = new LongOpenHashSet();
    long hits = 0;
    for (int row = 0; row < rows(); row++) {
      int index = idOffsets[row];
      int end = idOffsets[row + 1];
      while (index < end && seen.contains(ids[index])) {
        index++;
      }
      hits += index - idOffsets[row];
      for (; index < end; index++) {
        seen.add(ids[index]);
      }
    }
    return ids.length == 0 ? 0 : (double) hits / ids.length;
  }
}
