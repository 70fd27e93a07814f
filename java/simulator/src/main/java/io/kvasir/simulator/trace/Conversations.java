package io.kvasir.simulator.trace;

import it.unimi.dsi.fastutil.ints.Int2IntOpenHashMap;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.Arrays;

/**
 * The conversations of a trace: those that its rows name, or else inferred from shared ids. If some
 * rows name one, every other row is a conversation of its own.
 *
 * <p>Inferred, the parent of a request is found by its deepest id that occurred before: it is the
 * latest earlier request with that id. The id must occur in at most {@link #MAX_REQUESTS_PER_ID}
 * requests of the trace; an id in more requests is a common system prompt. A request without a
 * parent starts a conversation. Traces without ids have no conversations but those that their rows
 * name.
 *
 * <p>Immutable.
 */
public final class Conversations {

  /** Ids in more requests than this are ignored. */
  public static final int MAX_REQUESTS_PER_ID = 50;

  private final int[] conversation;
  private final int[] first;
  private final int count;

  private Conversations(int[] conversation, int[] first, int count) {
    this.conversation = conversation;
    this.first = first;
    this.count = count;
  }

  /** {@return an empty set: no conversations, for traces without ids and names} */
  public static Conversations none() {
    return new Conversations(new int[0], new int[0], 0);
  }

  /**
   * Infers the conversations of a trace. O(ids).
   *
   * @param trace the trace
   * @return its conversations
   */
  public static Conversations infer(Trace trace) {
    int rows = trace.rows();
    if (trace.namesSessions()) {
      return named(trace);
    }
    if (!trace.namesBlocks()) {
      return none();
    }
    Long2IntOpenHashMap requestsPerId = requestsPerId(trace);
    Long2IntOpenHashMap latest = new Long2IntOpenHashMap(requestsPerId.size());
    latest.defaultReturnValue(-1);
    int[] conversation = new int[rows];
    int[] first = new int[rows];
    int count = 0;
    for (int row = 0; row < rows; row++) {
      int parent = parent(trace, row, latest, requestsPerId);
      if (parent < 0) {
        first[count] = row;
        conversation[row] = count++;
      } else {
        conversation[row] = conversation[parent];
      }
      for (int index = 0; index < trace.idCount(row); index++) {
        latest.put(trace.id(row, index), row);
      }
    }
    return new Conversations(conversation, Arrays.copyOf(first, count), count);
  }

  private static Conversations named(Trace trace) {
    int[] conversation = new int[trace.rows()];
    int[] first = new int[trace.rows()];
    Int2IntOpenHashMap bySession = new Int2IntOpenHashMap();
    bySession.defaultReturnValue(-1);
    int count = 0;
    for (int row = 0; row < conversation.length; row++) {
      int session = trace.session(row);
      int known = session < 0 ? -1 : bySession.get(session);
      if (known < 0) {
        first[count] = row;
        known = count++;
        if (session >= 0) {
          bySession.put(session, known);
        }
      }
      conversation[row] = known;
    }
    return new Conversations(conversation, Arrays.copyOf(first, count), count);
  }

  private static int parent(
      Trace trace, int row, Long2IntOpenHashMap latest, Long2IntOpenHashMap requestsPerId) {
    for (int index = trace.idCount(row) - 1; index >= 0; index--) {
      long id = trace.id(row, index);
      int holder = latest.get(id);
      if (holder >= 0) {
        return requestsPerId.get(id) <= MAX_REQUESTS_PER_ID ? holder : -1;
      }
    }
    return -1;
  }

  private static Long2IntOpenHashMap requestsPerId(Trace trace) {
    Long2IntOpenHashMap counts = new Long2IntOpenHashMap();
    Long2IntOpenHashMap countedIn = new Long2IntOpenHashMap();
    countedIn.defaultReturnValue(-1);
    for (int row = 0; row < trace.rows(); row++) {
      for (int index = 0; index < trace.idCount(row); index++) {
        long id = trace.id(row, index);
        if (countedIn.put(id, row) != row) {
          counts.addTo(id, 1);
        }
      }
    }
    return counts;
  }

  /** {@return whether conversations are known; false for traces without ids and names} */
  public boolean known() {
    return count > 0;
  }

  /** {@return the number of conversations, 0 if none are known} */
  public int count() {
    return count;
  }

  /**
   * The conversation of a request. Only if {@link #known()}.
   *
   * @param row the row, from 0
   * @return 0 to {@link #count()} - 1, in order of their first requests
   */
  public int of(int row) {
    return conversation[row];
  }

  /**
   * Whether a request starts its conversation. Only if {@link #known()}.
   *
   * @param row the row, from 0
   * @return true for the first request of a conversation
   */
  public boolean firstTurn(int row) {
    return first[conversation[row]] == row;
  }
}
