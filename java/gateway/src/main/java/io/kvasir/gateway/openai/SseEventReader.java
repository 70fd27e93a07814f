package io.kvasir.gateway.openai;

import io.kvasir.gateway.openai.SseEvent.Kind;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads what an event means. Reusable and not thread-safe.
 *
 * <p>A field that cannot be read counts as absent: the engine's bytes reach the client in any case.
 */
final class SseEventReader {

  private enum Key {
    CHOICES,
    DELTA,
    TEXT,
    TOKEN_IDS,
    CONTENT,
    REASONING,
    REASONING_CONTENT,
    REFUSAL,
    TOOL_CALLS,
    FUNCTION_CALL,
    THINKING,
    PARTIAL_JSON,
    FINISH_REASON,
    STOP_REASON,
    USAGE,
    META_INFO,
    INDEX,
    RESPONSE,
    MESSAGE,
    ERROR,
    TYPE,
    OBJECT;

    static final NameTable<Key> TABLE = new NameTable<>(Key.class);
  }

  private static final byte[] DATA = ascii("data");
  private static final byte[] EVENT = ascii("event");
  private static final byte[] DONE = ascii("[DONE]");
  private static final byte[] ERROR = ascii("error");
  private static final byte[] QUOTED_ERROR = ascii("\"error\"");
  private static final byte[] PING = ascii("ping");
  private static final byte[] KEEPALIVE = ascii("keepalive");
  private static final byte[] MESSAGE_STOP = ascii("message_stop");
  private static final byte[] RESPONSE_COMPLETED = ascii("response.completed");
  private static final byte[] RESPONSE_INCOMPLETE = ascii("response.incomplete");
  private static final byte[] RESPONSE_FAILED = ascii("response.failed");

  private final JsonCursor json = new JsonCursor();
  private byte[] bytes = new byte[0];

  // Of the event that is being read:
  private boolean carriesOutput;
  private int listedTokens;
  private boolean typed;
  private boolean plainText;
  private boolean ping;
  private boolean done;
  private boolean error;
  private @Nullable JsonMember nullUsage;

  /**
   * Reads an event.
   *
   * @param event receives its meaning
   * @param array an array that holds the event
   * @param from index of its first byte
   * @param to index after its last byte
   */
  void read(SseEvent event, byte[] array, int from, int to) {
    int dataFrom = 0;
    int dataTo = -1;
    ByteArrayOutputStream joined = null;
    boolean namedError = false;
    boolean namedPing = false;
    for (int line = from; line < to; ) {
      int lineEnd = SseEvents.lineEnd(array, line, to);
      int value = fieldValue(array, line, lineEnd, DATA);
      if (value >= 0 && dataTo < 0) {
        dataFrom = value;
        dataTo = lineEnd;
      } else if (value >= 0) {
        if (joined == null) {
          joined = new ByteArrayOutputStream();
          joined.write(array, dataFrom, dataTo - dataFrom);
        }
        joined.write('\n');
        joined.write(array, value, lineEnd - value);
      } else {
        int name = fieldValue(array, line, lineEnd, EVENT);
        namedError |= name >= 0 && Arrays.equals(array, name, lineEnd, ERROR, 0, ERROR.length);
        namedPing |= name >= 0 && isPing(array, name, lineEnd);
      }
      line = lineEnd + 1;
    }
    if (joined != null) {
      readData(event, joined.toByteArray(), 0, joined.size());
      event.setCut(0, 0); // its indexes are not the event's
    } else if (dataTo >= 0) {
      readData(event, array, dataFrom, dataTo);
      if (event.cutTo() > 0) {
        event.setCut(event.cutFrom() - from, event.cutTo() - from);
      }
    }
    if (namedError) {
      event.setKind(Kind.ERROR);
    } else if (namedPing && event.kind() == Kind.DATA && event.outputTokens() == 0) {
      event.setKind(Kind.COMMENT);
    }
  }

  /** Whether a type names an event that only keeps a connection alive. */
  private static boolean isPing(byte[] array, int from, int to) {
    return Arrays.equals(array, from, to, PING, 0, PING.length)
        || Arrays.equals(array, from, to, KEEPALIVE, 0, KEEPALIVE.length);
  }

  /** {@return where the value of a line's field begins; -1 if the line has another field} */
  private static int fieldValue(byte[] array, int from, int to, byte[] name) {
    int colon = from + name.length;
    if (colon > to || !Arrays.equals(array, from, colon, name, 0, name.length)) {
      return -1;
    }
    if (colon == to) {
      return to;
    }
    if (array[colon] != ':') {
      return -1;
    }
    return colon + 1 < to && array[colon + 1] == ' ' ? colon + 2 : colon + 1;
  }

  private void readData(SseEvent event, byte[] array, int from, int to) {
    if (Arrays.equals(array, from, to, DONE, 0, DONE.length)) {
      event.setKind(Kind.DONE);
    } else {
      readJson(event, array, from, to);
    }
  }

  /**
   * Reads data that should be a JSON object.
   *
   * @param event receives its meaning
   * @param array an array that holds the data
   * @param from index of its first byte
   * @param to index after its last byte
   */
  private void readJson(SseEvent event, byte[] array, int from, int to) {
    bytes = array;
    carriesOutput = false;
    listedTokens = 0;
    typed = false;
    plainText = false;
    ping = false;
    done = false;
    error = false;
    nullUsage = null;
    json.reset(array, from, to);
    try {
      readObject(event);
      if (json.atEnd()) {
        event.setValid();
      }
    } catch (JsonException e) {
      // The part before the error counts.
    }
    carriesOutput |= plainText && !typed;
    event.addTokens(listedTokens > 0 ? listedTokens : carriesOutput ? 1 : 0);
    event.setKind(error ? Kind.ERROR : done ? Kind.DONE : ping ? Kind.COMMENT : Kind.DATA);
    if (nullUsage != null && event.isValid()) {
      int[] cut = nullUsage.cut(array, from);
      event.setCut(cut[0], cut[1]);
    }
  }

  /**
   * Reads the usage of a complete reply: a JSON object, or one for each text of a batch.
   *
   * @param array an array that holds the reply
   * @param from index of its first byte
   * @param to index after its last byte
   * @return the usage; {@link Usage#UNKNOWN} if the reply has none or is not valid JSON
   */
  Usage readUsage(byte[] array, int from, int to) {
    SseEvent reply = new SseEvent(Unpooled.EMPTY_BUFFER);
    bytes = array;
    json.reset(array, from, to);
    try {
      if (json.peek() == '[') {
        json.beginArray();
        while (json.nextElement()) {
          readObject(reply);
        }
      } else {
        readObject(reply);
      }
      return json.atEnd() ? reply.usage() : Usage.UNKNOWN;
    } catch (JsonException e) {
      return Usage.UNKNOWN;
    }
  }

  private void readObject(SseEvent event) throws JsonException {
    json.beginObject();
    while (json.nextKey()) {
      readMember(event);
    }
  }

  private void readMember(SseEvent event) throws JsonException {
    Key key = Key.TABLE.find(json);
    int first = json.peek();
    if (key == null) {
      json.skip();
      return;
    }
    switch (key) {
      case CHOICES -> readChoices(event, first);
      case DELTA -> readDelta(event, first);
      case TEXT -> plainText = skipIsContent();
      case TOKEN_IDS -> listedTokens += countElements(first);
      case USAGE -> {
        int start = json.keyStart();
        int value = json.at();
        event.setUsage(UsageReader.read(json));
        nullUsage = first == 'n' ? new JsonMember(start, value, json.at(), false) : null;
      }
      case META_INFO -> event.addUsage(UsageReader.read(json));
      case INDEX -> event.setIndex(json.skipUnsigned());
      case RESPONSE, MESSAGE -> readReply(event, first);
      case ERROR -> error |= skipIsContent();
      case TYPE -> readType(event);
      case OBJECT -> error |= json.skipIs(QUOTED_ERROR);
      default -> json.skip();
    }
  }

  private void readType(SseEvent event) throws JsonException {
    typed = true;
    int from = json.at() + 1;
    json.skip();
    int to = json.at() - 1;
    if (from <= to && isPing(bytes, from, to)) {
      ping = true;
    } else if (is(from, to, ERROR)) {
      error = true;
    } else if (is(from, to, MESSAGE_STOP)) {
      done = true;
    } else if (is(from, to, RESPONSE_COMPLETED) || is(from, to, RESPONSE_INCOMPLETE)) {
      event.setFinished();
    } else if (is(from, to, RESPONSE_FAILED)) {
      event.setFinished();
      error = true;
    }
  }

  private void readChoices(SseEvent event, int first) throws JsonException {
    if (first != '[') {
      json.skip();
      return;
    }
    boolean empty = true;
    json.beginArray();
    while (json.nextElement()) {
      empty = false;
      readChoice(event);
    }
    if (empty) {
      event.setNoChoices();
    }
  }

  private void readChoice(SseEvent event) throws JsonException {
    if (json.peek() != '{') {
      json.skip();
      return;
    }
    json.beginObject();
    while (json.nextKey()) {
      Key key = Key.TABLE.find(json);
      int first = json.peek();
      if (key == Key.DELTA) {
        readDelta(event, first);
      } else if (key == Key.TEXT) {
        carriesOutput |= skipIsContent();
      } else if (key == Key.TOKEN_IDS) {
        listedTokens += countElements(first);
      } else if (key == Key.FINISH_REASON) {
        readReason(event);
      } else {
        json.skip();
      }
    }
  }

  /** Reads what a chunk adds: a text in the Responses API, an object in the others. */
  private void readDelta(SseEvent event, int first) throws JsonException {
    if (first != '{') {
      carriesOutput |= skipIsContent();
      return;
    }
    json.beginObject();
    while (json.nextKey()) {
      Key key = Key.TABLE.find(json);
      if (key == null) {
        json.skip();
        continue;
      }
      switch (key) {
        case CONTENT,
            TEXT,
            REASONING,
            REASONING_CONTENT,
            REFUSAL,
            TOOL_CALLS,
            FUNCTION_CALL,
            THINKING,
            PARTIAL_JSON ->
            carriesOutput |= skipIsContent();
        case STOP_REASON -> readReason(event);
        default -> json.skip();
      }
    }
  }

  private void readReason(SseEvent event) throws JsonException {
    if (skipIsContent()) {
      event.setFinished();
    }
  }

  /** Reads the reply within an event of the Responses or Anthropic API. */
  private void readReply(SseEvent event, int first) throws JsonException {
    if (first != '{') {
      json.skip();
      return;
    }
    json.beginObject();
    while (json.nextKey()) {
      if (Key.TABLE.find(json) == Key.USAGE) {
        event.setUsage(UsageReader.read(json));
      } else {
        json.skip();
      }
    }
  }

  private int countElements(int first) throws JsonException {
    int count = 0;
    if (first != '[') {
      json.skip();
      return count;
    }
    json.beginArray();
    while (json.nextElement()) {
      json.skip();
      count++;
    }
    return count;
  }

  /** Skips a value; {@return whether it is a text, array or object, and not empty} */
  private boolean skipIsContent() throws JsonException {
    int from = json.at();
    json.skip();
    int first = bytes[from];
    if (first == '"') {
      return json.at() > from + 2;
    }
    int next = from + 1;
    while (next < json.at() && JsonCursor.isWhitespace(bytes[next])) {
      next++;
    }
    return (first == '[' || first == '{') && next < json.at() - 1;
  }

  private boolean is(int from, int to, byte[] text) {
    return from <= to && Arrays.equals(bytes, from, to, text, 0, text.length);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
