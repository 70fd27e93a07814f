package io.kvasir.simulator.trace;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/**
 * The conversations of Alibaba's traces: each row has a {@code chat_id} of its own, and the {@code
 * parent_chat_id} of the row that it continues, or -1. Not thread-safe.
 */
final class ChatIds {

  /** The id of a row. */
  static final String CHAT = "chat_id";

  /** The id of the row that a row continues. */
  static final String PARENT = "parent_chat_id";

  private final Long2LongOpenHashMap firstOf = new Long2LongOpenHashMap();
  private final LongArrayList chats = new LongArrayList();
  private final LongArrayList parents = new LongArrayList();

  /**
   * Whether a file's rows name their chats.
   *
   * @param first its first row
   * @return false also for a row that is not valid
   */
  static boolean areNamedIn(String first) {
    Set<String> keys = new HashSet<>();
    try (JsonParser json = MooncakeParser.JSON.createParser(first)) {
      json.nextToken();
      while (json.nextToken() == JsonToken.FIELD_NAME) {
        keys.add(json.currentName());
        json.nextToken();
        json.skipChildren();
      }
    } catch (IOException e) {
      return false; // reported when the row is read
    }
    return keys.containsAll(Set.of(CHAT, PARENT));
  }

  /**
   * Adds the next row of the file.
   *
   * @param chat its id; negative for none
   * @param parent the id of the row that it continues; negative for none
   */
  void add(long chat, long parent) {
    chats.add(chat);
    parents.add(parent);
  }

  /**
   * Names the conversations of the rows that do not name theirs: by the id of the conversation's
   * first row, in the file or missing from it.
   *
   * @param trace has all rows that were added here
   */
  void nameConversations(TraceBuilder trace) {
    for (int row : trace.byArrival()) {
      long chat = chats.getLong(row);
      if (chat >= 0) {
        String named = conversation(chat, parents.getLong(row));
        if (!trace.namesSession(row)) {
          trace.nameSession(row, named);
        }
      }
    }
  }

  private String conversation(long chat, long parent) {
    long first = parent < 0 ? chat : firstOf.getOrDefault(parent, parent);
    firstOf.put(chat, first);
    return Long.toString(first);
  }
}
