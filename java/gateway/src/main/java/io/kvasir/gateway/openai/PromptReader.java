package io.kvasir.gateway.openai;

import io.kvasir.fleet.router.Prompt;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decodes the prompt of a scanned body. {@link PromptText} reads its text in the same way. Used
 * once, by one thread.
 */
final class PromptReader {

  /** The keys of messages and their parts. */
  enum Key {
    ROLE,
    CONTENT,
    TEXT,
    TYPE;

    static final NameTable<Key> TABLE = new NameTable<>(Key.class);
  }

  private final BodyScan body;
  private final JsonCursor json = new JsonCursor();
  private boolean inSystem;

  PromptReader(BodyScan body) {
    this.body = body;
  }

  /** {@return the prompt; null if the body has none of a known form} */
  @Nullable Prompt read() {
    try {
      if (goTo(BodyField.MESSAGES)) {
        return chat();
      }
      BodyField field = body.prompt().field();
      return field != null && goTo(field) ? prompt() : null;
    } catch (JsonException e) {
      throw new IllegalStateException("the body was changed after its scan", e);
    }
  }

  /** {@return the tokens in a field, one list for each prompt; null if it has anything else} */
  @Nullable List<int[]> tokens(BodyField field) {
    try {
      return goTo(field) && json.peek() == '[' ? sequences() : null;
    } catch (JsonException e) {
      throw new IllegalStateException("the body was changed after its scan", e);
    }
  }

  /** {@return whether some part of the prompt is not a text} */
  boolean hasOtherContent() {
    try {
      if (body.member(BodyField.MESSAGES) != null) {
        return (goTo(BodyField.SYSTEM) && isOther())
            || (goTo(BodyField.MESSAGES) && hasOtherMessage(false));
      }
      return body.member(BodyField.PROMPT) == null
          && goTo(BodyField.INPUT)
          && json.peek() == '['
          && hasOtherMessage(true);
    } catch (JsonException e) {
      throw new IllegalStateException("the body was changed after its scan", e);
    }
  }

  /** {@return the number of texts or lists of tokens that are prompts, at least 1. O(bytes)} */
  int prompts() {
    try {
      BodyField field = body.isChat() ? null : body.prompt().field();
      if (field == null || !goTo(field) || json.peek() != '[') {
        return 1;
      }
      json.beginArray();
      int prompts = 0;
      while (json.nextElement()) {
        int first = json.peek();
        if (first != '"' && first != '[') {
          return 1;
        }
        json.skip();
        prompts++;
      }
      return Math.max(1, prompts);
    } catch (JsonException e) {
      throw new IllegalStateException("the body was changed after its scan", e);
    }
  }

  /** Whether an array has a message with other content. Items of an input may be no messages. */
  private boolean hasOtherMessage(boolean items) throws JsonException {
    json.beginArray();
    while (json.nextElement()) {
      if (json.peek() != '{') {
        json.skip();
        continue;
      }
      boolean hasContent = false;
      json.beginObject();
      while (json.nextKey()) {
        if (Key.TABLE.find(json) != Key.CONTENT) {
          json.skip();
        } else if (isOther()) {
          return true;
        } else {
          hasContent = true;
        }
      }
      if (items && !hasContent) {
        return true;
      }
    }
    return false;
  }

  /** Whether a message's content is neither a text, nor null, nor an array of texts. */
  private boolean isOther() throws JsonException {
    int first = json.peek();
    if (first != '[') {
      json.skip();
      return first != '"' && first != 'n';
    }
    json.beginArray();
    while (json.nextElement()) {
      if (isOtherPart()) {
        return true;
      }
    }
    return false;
  }

  private boolean isOtherPart() throws JsonException {
    if (json.peek() != '{') {
      boolean isText = json.peek() == '"';
      json.skip();
      return !isText;
    }
    boolean hasText = false;
    boolean typed = true;
    json.beginObject();
    while (json.nextKey()) {
      Key key = Key.TABLE.find(json);
      if (key == Key.TYPE) {
        typed = text().endsWith("text");
      } else {
        hasText |= key == Key.TEXT && json.peek() == '"';
        json.skip();
      }
    }
    return !hasText || !typed;
  }

  private @Nullable List<int[]> sequences() throws JsonException {
    List<int[]> sequences = new ArrayList<>();
    Tokens single = new Tokens();
    Tokens inner = new Tokens();
    json.beginArray();
    while (json.nextElement()) {
      if (json.peek() == '[') {
        inner.clear();
        json.beginArray();
        while (json.nextElement()) {
          if (!inner.addValid(json.skipUnsigned())) {
            return null;
          }
        }
        sequences.add(inner.toArray());
      } else if (!single.addValid(json.skipUnsigned())) {
        return null;
      }
    }
    if (single.size > 0 && !sequences.isEmpty()) {
      return null;
    }
    return sequences.isEmpty() ? List.of(single.toArray()) : sequences;
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
      inSystem = true;
      messages.add(new Prompt.Message("system", content()));
      inSystem = false;
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
      if (!part.isEmpty() && !(inSystem && part.startsWith(BillingText.PREFIX))) {
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
    Tokens inner = new Tokens();
    json.beginArray();
    while (json.nextElement()) {
      switch (json.peek()) {
        case '"' -> texts.add(text());
        case '{' -> messages.add(message());
        case '[' -> {
          inner.clear();
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

    void clear() {
      size = 0;
    }

    void add(int token) {
      if (size == array.length) {
        array = Arrays.copyOf(array, 2 * size);
      }
      array[size++] = token;
    }

    /** Adds a token; false if it is none. */
    boolean addValid(long token) {
      if (token >= 0) {
        add((int) token);
      }
      return token >= 0;
    }

    int[] toArray() {
      return Arrays.copyOf(array, size);
    }
  }
}
