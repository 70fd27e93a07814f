package io.kvasir.gateway.openai;

import io.kvasir.fleet.router.Prompt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Decodes the prompt of a scanned body. Used once, by one thread. */
final class PromptReader {

  private enum Key {
    ROLE,
    CONTENT,
    TEXT;

    static final NameTable<Key> TABLE = new NameTable<>(Key.class);
  }

  private final BodyScan body;
  private final JsonCursor json = new JsonCursor();

  PromptReader(BodyScan body) {
    this.body = body;
  }

  /** {@return the prompt; null if the body has none of a known form} */
  @Nullable Prompt read() {
    try {
      if (goTo(BodyField.MESSAGES)) {
        return chat();
      }
      return goTo(BodyField.PROMPT) || goTo(BodyField.INPUT) ? prompt() : null;
    } catch (JsonException e) {
      throw new IllegalStateException("the body was changed after its scan", e);
    }
  }

  private boolean goTo(BodyField field) {
    JsonMember member = body.member(field);
    if (member != null) {
      json.reset(body.bytes(), member.value(), member.end());
    }
    return member != null;
  }

  private Prompt chat() throws JsonException {
    List<Prompt.Message> messages = new ArrayList<>();
    if (goTo(BodyField.SYSTEM)) {
      messages.add(new Prompt.Message("system", content()));
    }
    goTo(BodyField.MESSAGES);
    json.beginArray();
    while (json.nextElement()) {
      messages.add(message());
    }
    return new Prompt.Chat(messages);
  }

  private Prompt.Message message() throws JsonException {
    String role = "";
    String content = "";
    if (json.peek() == '{') {
      json.beginObject();
      while (json.nextKey()) {
        Key key = Key.TABLE.find(json);
        if (key == Key.ROLE) {
          role = text();
        } else if (key == Key.CONTENT) {
          content = content();
        } else {
          json.skip();
        }
      }
    } else {
      json.skip();
    }
    return new Prompt.Message(role, content);
  }

  /** {@return a text, or the texts of an array's parts; empty for any other value} */
  private String content() throws JsonException {
    if (json.peek() != '[') {
      return text();
    }
    StringBuilder all = new StringBuilder();
    json.beginArray();
    while (json.nextElement()) {
      String part = part();
      if (!part.isEmpty()) {
        all.append(all.isEmpty() ? "" : "\n").append(part);
      }
    }
    return all.toString();
  }

  private String part() throws JsonException {
    if (json.peek() != '{') {
      return text();
    }
    String text = "";
    json.beginObject();
    while (json.nextKey()) {
      if (Key.TABLE.find(json) == Key.TEXT) {
        text = text();
      } else {
        json.skip();
      }
    }
    return text;
  }

  /** {@return a text; empty for any other value, which is skipped} */
  private String text() throws JsonException {
    boolean isText = json.peek() == '"';
    int from = json.at();
    json.skip();
    return isText ? JsonText.decode(body.bytes(), from, json.at(), json.escaped()) : "";
  }

  private @Nullable Prompt prompt() throws JsonException {
    if (json.peek() == '"') {
      return Prompt.of(text());
    }
    if (json.peek() != '[') {
      return null;
    }
    List<String> texts = new ArrayList<>();
    List<int[]> sequences = new ArrayList<>();
    List<Prompt.Message> messages = new ArrayList<>();
    Tokens tokens = new Tokens();
    json.beginArray();
    while (json.nextElement()) {
      switch (json.peek()) {
        case '"' -> texts.add(text());
        case '{' -> messages.add(message());
        case '[' -> {
          Tokens inner = new Tokens();
          json.beginArray();
          while (json.nextElement()) {
            token(inner);
          }
          sequences.add(inner.toArray());
        }
        default -> token(tokens);
      }
    }
    if (tokens.size > 0) {
      sequences.add(tokens.toArray());
    }
    // `input` is not checked: of mixed forms, the first of these is taken.
    if (!messages.isEmpty()) {
      return new Prompt.Chat(messages);
    }
    return sequences.isEmpty() ? new Prompt.Texts(texts) : new Prompt.Tokens(sequences);
  }

  /** Adds a token; 0 for a value that is not an integer of 32 bits. */
  private void token(Tokens tokens) throws JsonException {
    tokens.add((int) Math.max(json.skipUnsigned(), 0));
  }

  /** A growing array. */
  private static final class Tokens {
    private int[] array = new int[64];
    private int size;

    void add(int token) {
      if (size == array.length) {
        array = Arrays.copyOf(array, 2 * size);
      }
      array[size++] = token;
    }

    int[] toArray() {
      return Arrays.copyOf(array, size);
    }
  }
}
