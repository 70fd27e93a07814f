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

  /** Bytes of a turn besides its contents, about. */
  private static final int TURN_BYTES = 256;

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
   * Keeps a turn. O(dropped turns).
   *
   * @param id the response's id, which an engine has given it
   * @param turn what it adds
   */
  public synchronized void put(String id, Turn turn) {
    Turn before = byId.put(id, turn);
    bytes += turn.bytes() - (before == null ? 0 : before.bytes());
    Iterator<Turn> eldest = byId.values().iterator();
    while (bytes > MAX_BYTES && eldest.hasNext()) {
      bytes -= eldest.next().bytes();
      eldest.remove();
    }
  }

  /**
   * The size of what {@link #upTo} returns. O(turns).
   *
   * @param id the response's id; null for none
   * @return the bytes of inputs and answers
   */
  public long bytesUpTo(@Nullable String id) {
    return id == null ? 0 : upTo(id).stream().mapToLong(each -> each.length).sum();
  }

  /**
   * The conversation up to a response. O(turns).
   *
   * @param id the response's id
   * @return the inputs and answers as JSON, oldest first; empty if not all of them are known
   */
  public synchronized List<byte[]> upTo(String id) {
    ArrayDeque<byte[]> turns = new ArrayDeque<>();
    String next = id;
    while (next != null) {
      Turn turn = byId.get(next);
      if (turn == null || turns.size() > 2 * byId.size()) { // ids that lead back to themselves
        return List.of();
      }
      turns.addFirst(turn.answer);
      turns.addFirst(turn.input);
      next = turn.previous;
    }
    return List.copyOf(turns);
  }
}
