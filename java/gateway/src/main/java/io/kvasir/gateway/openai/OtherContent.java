package io.kvasir.gateway.openai;

/**
 * The images, sounds, videos and files in the messages of a chat, as parts of OpenAI's and
 * Anthropic's APIs have them. Not thread-safe.
 */
final class OtherContent {

  /** Tokens that count for each: about those of a picture of a million pixels. */
  static final long TOKENS = 1_024;

  /** The members of messages and parts that have other content, or may have parts with it. */
  private enum Key {
    IMAGE_URL,
    VIDEO_URL,
    AUDIO_URL,
    INPUT_AUDIO,
    FILE,
    FILE_DATA,
    SOURCE,
    CONTENT,
    OUTPUT;

    static final NameTable<Key> TABLE = new NameTable<>(Key.class);
  }

  private final JsonCursor json = new JsonCursor();
  private long bytes;
  private long count;

  private OtherContent() {}

  /** Finds what a body has. O(bytes). */
  static OtherContent of(BodyScan body) {
    OtherContent found = new OtherContent();
    BodyField field = body.prompt().field();
    JsonMember member =
        field == BodyField.MESSAGES || field == BodyField.INPUT ? body.member(field) : null;
    if (member != null) {
      found.json.reset(body.bytes(), member.value(), member.end());
      try {
        found.read();
      } catch (JsonException e) {
        throw new IllegalStateException("the body was changed after its scan", e);
      }
    }
    return found;
  }

  /** Bytes of all of it. */
  long bytes() {
    return bytes;
  }

  /** How many there are. */
  long count() {
    return count;
  }

  private void read() throws JsonException {
    switch (json.peek()) {
      case '[' -> {
        json.beginArray();
        while (json.nextElement()) {
          read();
        }
      }
      case '{' -> {
        json.beginObject();
        while (json.nextKey()) {
          member();
        }
      }
      default -> json.skip();
    }
  }

  private void member() throws JsonException {
    Key key = Key.TABLE.find(json);
    if (key == Key.CONTENT || key == Key.OUTPUT) {
      read();
      return;
    }
    int first = json.peek();
    int from = json.at();
    json.skip();
    if (key != null && (first == '"' || first == '{')) {
      bytes += json.at() - from;
      count++;
    }
  }
}
