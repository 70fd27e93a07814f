package io.kvasir.fleet.wire;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap;
import java.io.IOException;
import java.util.Objects;

/**
 * Reads what TensorRT-LLM's {@code /kv_cache_events} answers: a list of events of all attention-DP
 * ranks, numbered for each rank.
 *
 * <p>A block is in one tier at a time and its removal does not name the tier, so tiers are ignored:
 * a block is held from {@code stored} to {@code removed}, and {@code created} and {@code updated}
 * change nothing. A partial block, which only the last of an event can be, is left out. Where a
 * model has several attention windows, only the largest one keeps whole prefixes; the others'
 * events change nothing.
 *
 * <p>Not thread-safe: one reader for each worker. O(bytes).
 */
public final class TrtllmEventJson {

  private static final JsonFactory FACTORY = new JsonFactory();

  private final TrtllmEventParser parser;

  /** The largest window seen so far, by rank. */
  private final Int2IntOpenHashMap windows = new Int2IntOpenHashMap();

  /** Takes the events of all ranks, on the reading thread. */
  public interface Sink {

    /**
     * An event begins, also one that changes nothing.
     *
     * @param dpRank the event's rank; -1 if it names none
     * @param eventId its number in the rank's sequence, at least 0
     * @return receives the event as a batch of one
     */
    WireListener begin(int dpRank, long eventId);

    /** The event that began last ends. */
    void end();
  }

  /**
   * Creates a reader.
   *
   * @param tokensPerBlock the block size of the worker, at least 1
   */
  public TrtllmEventJson(int tokensPerBlock) {
    this.parser = new TrtllmEventParser(tokensPerBlock);
  }

  /**
   * Reads a list of events. An event that cannot be read is skipped; the listener learns the cause.
   *
   * @param json an array that holds the JSON text in UTF-8; not changed
   * @param from the text's first byte
   * @param to its end
   * @param sink receives the events
   * @return false if the text is not a list of numbered events to its end, so that events may be
   *     lost; those in front of the damage have been passed on
   * @throws IndexOutOfBoundsException if the range is outside the array
   */
  public boolean read(byte[] json, int from, int to, Sink sink) {
    Objects.checkFromToIndex(from, to, json.length);
    boolean whole = true;
    try (JsonParser values = FACTORY.createParser(json, from, to - from)) {
      if (values.nextToken() != JsonToken.START_ARRAY) {
        return false;
      }
      while (values.nextToken() != JsonToken.END_ARRAY) {
        whole &= parser.parse(values);
        if (parser.eventId() >= 0) {
          pass(sink);
        }
      }
      return whole && values.nextToken() == null;
    } catch (IOException e) {
      return false;
    }
  }

  private void pass(Sink sink) {
    int rank = parser.dpRank();
    WireListener listener = sink.begin(rank, parser.eventId());
    listener.onBatch(Double.NaN, rank);
    if (parser.fault() != null) {
      listener.onSkipped(parser.fault());
    } else if (follows(rank, listener)) {
      parser.pass(listener);
    }
    sink.end();
  }

  /**
   * Whether the event is about the largest window, or names none. A restarted engine may have other
   * windows.
   */
  private boolean follows(int rank, WireListener listener) {
    int window = parser.window();
    if (parser.eventId() == 0) {
      windows.remove(rank);
    }
    if (window == 0) {
      return true;
    }
    int largest = windows.getOrDefault(rank, window);
    windows.put(rank, Math.max(window, largest));
    if (window > largest) {
      listener.onCleared();
    }
    return window >= largest;
  }
}
