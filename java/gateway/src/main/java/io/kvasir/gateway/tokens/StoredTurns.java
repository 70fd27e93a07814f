package io.kvasir.gateway.tokens;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What requests to the Responses API and their answers have added to stored conversations, so that
 * the tokens of requests that continue them can be made. Those used last are kept, within {@value
 * #MAX_BYTES} bytes.
 *
 * <p>Thread-safe. Arrays are shared, not copied, and must not be changed.
 */
public final class StoredTurns {

  private static final long MAX_BYTES = 64 << 20;

  private static final int MAX_ID_CHARACTERS = 256;

  /** Bytes of a turn besides its contents, at most: most of them are of two ids. */
  private static final int TURN_BYTES = 256 + 2 * 2 * MAX_ID_CHARACTERS;

  // Guarded by this.
  private final Map<String, Turn> byId = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /** Begins without turns. */
  StoredTurns() {}

  /**
   * One request and its answer.
   *
   * @param previous the response that the request continues; null for none
   * @param input the request's input, as JSON
   * @param answer the messages of the answer, as a JSON array of items
   */
  @SuppressWarnings("ArrayRecordComponent") // value semantics of the arrays are never used
  public record Turn(@Nullable String previous, byte[] input, byte[] answer) {

    private long bytes() {
      return TURN_BYTES + (long) input.length + answer.length;
    }
  }

  /**
   * A conversation up to a response.
   *
   * @param parts inputs and answers as JSON, oldest first; empty if not all of them are known
   * @param bytes their bytes
   */
  public record Earlier(List<byte[]> parts, long bytes) {

    /** No conversation, or an unknown one. */
    public static final Earlier NONE = new Earlier(List.of(), 0);
  }

  /**
   * Keeps a turn. O(dropped turns).
   *
   * @param id the response's id, which an engine has given it
   * @param turn what it adds; not kept if its id or the one before it has more than {@value
   *     #MAX_ID_CHARACTERS} characters
   */
  public synchronized void put(String id, Turn turn) {
    String previous = turn.previous;
    if (id.length() > MAX_ID_CHARACTERS
        || (previous != null && previous.length() > MAX_ID_CHARACTERS)) {
      return;
    }
    Turn before = byId.put(id, turn);
    bytes += turn.bytes() - (before == null ? 0 : before.bytes());
    Iterator<Turn> eldest = byId.values().iterator();
    while (bytes > MAX_BYTES && eldest.hasNext()) {
      bytes -= eldest.next().bytes();
      eldest.remove();
    }
  }

  /**
   * The conversation up to a response. O(turns).
   *
   * @param id the response's id; null for none
   * @return its inputs and answers
   */
  public synchronized Earlier upTo(@Nullable String id) {
    ArrayDeque<byte[]> parts = new ArrayDeque<>();
    long size = 0;
    String next = id;
    while (next != null) {
      Turn turn = byId.get(next);
      if (turn == null || parts.size() > 2 * byId.size()) { // ids that lead back to themselves
        return Earlier.NONE;
      }
      parts.addFirst(turn.answer);
      parts.addFirst(turn.input);
      size += turn.answer.length + turn.input.length;
      next = turn.previous;
    }
    return parts.isEmpty() ? Earlier.NONE : new Earlier(List.copyOf(parts), size);
  }
}
