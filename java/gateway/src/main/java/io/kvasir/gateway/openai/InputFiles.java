package io.kvasir.gateway.openai;

import org.jspecify.annotations.Nullable;

/** Finds the stored files that an input of the Responses API names. Used once, by one thread. */
final class InputFiles {

  private enum Key {
    CONTENT,
    OUTPUT,
    FILE_ID;

    static final NameTable<Key> TABLE = new NameTable<>(Key.class);
  }

  private final BodyScan body;
  private final JsonCursor json = new JsonCursor();

  InputFiles(BodyScan body) {
    this.body = body;
  }

  /** {@return the id of the first file; null if there is none} */
  @Nullable String first() {
    JsonMember input = body.member(BodyField.INPUT);
    if (input == null) {
      return null;
    }
    json.reset(body.bytes(), input.value(), input.end());
    try {
      return inList(true);
    } catch (JsonException e) {
      throw new IllegalStateException("the body was changed after its scan", e);
    }
  }

  /** Looks at an object, or those of a list: the items of an input, or the parts of an item. */
  private @Nullable String inList(boolean items) throws JsonException {
    if (json.peek() != '[') {
      return inObject(items);
    }
    json.beginArray();
    while (json.nextElement()) {
      String file = inObject(items);
      if (file != null) {
        return file;
      }
    }
    return null;
  }

  private @Nullable String inObject(boolean item) throws JsonException {
    if (json.peek() != '{') {
      json.skip();
      return null;
    }
    json.beginObject();
    while (json.nextKey()) {
      Key key = Key.TABLE.find(json);
      String file = null;
      if (key == Key.FILE_ID) {
        file = id();
      } else if (key != null && item) {
        file = inList(false);
      } else {
        json.skip();
      }
      if (file != null) {
        return file;
      }
    }
    return null;
  }

  private @Nullable String id() throws JsonException {
    int value = json.at();
    json.skip();
    boolean isText =
        body.bytes()[value] == '"' && json.at() - value <= BodyField.Type.TEXT.maxBytes;
    return isText ? JsonText.decode(body.bytes(), value, json.at(), json.escaped()) : null;
  }
}
