package io.kvasir.simulator.trace;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import it.unimi.dsi.fastutil.longs.Long2LongOpenHashMap;
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
   * Adds a row.
   *
   * @param chat its id
   * @param parent the id of the row that it continues; negative for none
   * @return the name of its conversation: the id of the conversation's first row, in the file or
   *     missing from it
   */
  String conversation(long chat, long parent) {
    long first = parent < 0 ? chat : firstOf.getOrDefault(parent, parent);
    firstOf.put(chat, first);
    return Long.toString(first);
  }
}
