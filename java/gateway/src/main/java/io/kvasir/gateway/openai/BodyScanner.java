package io.kvasir.gateway.openai;

import io.kvasir.fleet.router.PromptSource.Form;
import io.kvasir.gateway.openai.JsonException.Kind;
import io.kvasir.model.Errors;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The pass over a body that makes a {@link BodyScan}. Used once, by one thread. */
final class BodyScanner {

  private final byte[] bytes;
  private final int offset;
  private final int length;
  private final JsonCursor json = new JsonCursor();
  private final EnumMap<BodyField, JsonMember> fields = new EnumMap<>(BodyField.class);
  private final EnumMap<NestedField, JsonMember> nested = new EnumMap<>(NestedField.class);
  private int members;
  private final Map<BodyField, Form> forms = new EnumMap<>(BodyField.class);
  private int elements;

  /** Whether the value of a top-level field is being read; then {@link #top} is its key. */
  private boolean inValue;

  private @Nullable JsonMember top;

  BodyScanner(byte[] bytes, int offset, int length) {
    this.bytes = bytes;
    this.offset = offset;
    this.length = length;
  }

  BodyScan scan() throws InvalidBodyException {
    json.reset(bytes, offset, offset + length);
    try {
      if (json.atEnd()) {
        throw new InvalidBodyException(null, "the body is empty; it must be a JSON object");
      }
      if (json.peek() != '{') {
        json.skip();
        throw new InvalidBodyException(null, "the body must be a JSON object");
      }
      json.beginObject();
      while (json.nextKey()) {
        member();
      }
      if (!json.atEnd()) {
        throw json.expected("the end of the body");
      }
    } catch (JsonException e) {
      throw invalid(e);
    }
    return new BodyScan(bytes, offset, length, fields, nested, members, forms, elements);
  }

  private void member() throws JsonException, InvalidBodyException {
    members++;
    int start = json.keyStart();
    top = new JsonMember(start, start, json.keyEnd(), json.keyEscaped());
    inValue = true;
    BodyField field = BodyField.TABLE.find(json);
    int value = json.at();
    if (field == null) {
      json.skip();
    } else {
      read(field);
      boolean escaped = bytes[value] == '"' && json.escaped();
      if (fields.put(field, new JsonMember(start, value, json.at(), escaped)) != null) {
        throw repeated(field.key());
      }
    }
    inValue = false;
  }

  private void read(BodyField field) throws JsonException, InvalidBodyException {
    int first = json.peek();
    if (BodyField.DECODED.contains(field)) {
      readDecoded(field, first);
    } else if (field == BodyField.METADATA && first == '{') {
      readObject(field);
    } else if (first == 'n'
        || field.type == BodyField.Type.ANY
        || field.type == BodyField.Type.ROUTING) {
      json.skip();
    } else if (field.type == BodyField.Type.OBJECT && first == '{') {
      readObject(field);
    } else {
      int value = json.at();
      json.skip();
      check(field.key(), field.type, value);
    }
    if (field == BodyField.CONVERSATION_PARAMS && first == '{') {
      requireConversationId();
    }
  }

  /** Reads a field that is decoded later. The memory for that is bounded here. */
  private void readDecoded(BodyField field, int first) throws JsonException, InvalidBodyException {
    int elementsBefore = json.elements();
    int numbersBefore = json.numbers();
    if (first == 'n') {
      json.skip();
    } else if (field.type == BodyField.Type.PROMPT) {
      readPrompt(field);
    } else if (first == '[') {
      readList(field);
    } else {
      int value = json.at();
      json.skip();
      check(field.key(), field.type, value);
      if (first == '"') {
        forms.put(field, Form.TEXTS);
      }
    }
    checkSize(field, json.elements() - elementsBefore, json.numbers() - numbersBefore);
    elements += json.elements() - elementsBefore;
  }

  /**
   * The form of a list follows from its elements: messages go before tokens, tokens before texts.
   */
  private void readList(BodyField field) throws JsonException, InvalidBodyException {
    Form form = field == BodyField.MESSAGES ? Form.CHAT : Form.TEXTS;
    int elementsBefore = json.elements();
    int numbersBefore = json.numbers();
    json.beginArray();
    while (json.nextElement()) {
      int first = json.peek();
      if (first == '{') {
        form = Form.CHAT;
      } else if (first != '"' && form != Form.CHAT) {
        form = Form.TOKENS;
      }
      if (form(first) == '0') {
        if (field == BodyField.MESSAGES) {
          json.countAsPart(); // decoded as an empty message
        }
        long ignored = json.skipUnsigned();
      } else {
        json.skip();
      }
      checkSize(field, json.elements() - elementsBefore, json.numbers() - numbersBefore);
    }
    forms.put(field, form);
  }

  private static void checkSize(BodyField field, int elements, int numbers)
      throws InvalidBodyException {
    if (elements > BodyScan.MAX_PARTS) {
      throw new InvalidBodyException(
          field.key(),
          field.key()
              + " must have at most "
              + BodyScan.MAX_PARTS
              + " texts, messages, parts and lists together");
    }
    if (numbers > BodyScan.MAX_TOKENS) {
      throw new InvalidBodyException(
          field.key(), field.key() + " must have at most " + BodyScan.MAX_TOKENS + " tokens");
    }
  }

  private void readObject(BodyField field) throws JsonException, InvalidBodyException {
    json.beginObject();
    while (json.nextKey()) {
      NestedField inner = NestedField.TABLE.find(json);
      int start = json.keyStart();
      int value = json.at();
      json.skip();
      if (inner != null && inner.parent == field) {
        check(inner.path, type(inner), value);
        boolean escaped = bytes[value] == '"' && json.escaped();
        if (nested.put(inner, new JsonMember(start, value, json.at(), escaped)) != null) {
          throw repeated(inner.path);
        }
      }
    }
  }

  private static BodyField.Type type(NestedField field) {
    return switch (field) {
      case INCLUDE_USAGE -> BodyField.Type.FLAG;
      case CONVERSATION_ID, SUBAGENT_AFFINITY_ID, THREAD_ID, SESSION_ID -> BodyField.Type.TEXT;
      case USER_ID -> BodyField.Type.ANY;
    };
  }

  private void requireConversationId() throws InvalidBodyException {
    JsonMember id = nested.get(NestedField.CONVERSATION_ID);
    if (id == null || id.isNull(bytes) || id.text(bytes).isBlank()) {
      String path = NestedField.CONVERSATION_ID.path;
      throw new InvalidBodyException(path, path + " must be a string that is not blank");
    }
  }

  /** Checks the size and the type of the value that was skipped last. */
  private void check(String path, BodyField.Type type, int value) throws InvalidBodyException {
    int first = bytes[value];
    if (json.at() - value > type.maxBytes) {
      throw new InvalidBodyException(
          path, path + " must be " + type.words + ", of at most " + type.maxBytes + " bytes");
    }
    boolean allowed =
        first == 'n'
            || switch (type) {
              case TEXT -> first == '"';
              case FLAG -> first == 't' || first == 'f';
              case INTEGER -> isInteger(value, json.at());
              case OBJECT -> first == '{';
              case LIST -> first == '[';
              case PROMPT, ANY, ROUTING -> true;
            };
    if (!allowed) {
      throw new InvalidBodyException(path, path + " must be " + type.words);
    }
  }

  /** Whether a valid value is a number without a fraction; 10.0 and 1e1 are integers too. */
  private boolean isInteger(int from, int to) {
    if (form(bytes[from]) != '0') {
      return false;
    }
    for (int i = from; i < to; i++) {
      if (bytes[i] == '.' || bytes[i] == 'e' || bytes[i] == 'E') {
        return BodyScan.number(bytes, from, to) % 1 == 0;
      }
    }
    return true;
  }

  /** A prompt is a text, texts, tokens, or lists of tokens. */
  private void readPrompt(BodyField field) throws JsonException, InvalidBodyException {
    forms.put(field, Form.TEXTS);
    if (json.peek() == '"') {
      json.skip();
      return;
    }
    if (json.peek() != '[') {
      json.skip();
      throw wrongPrompt(field);
    }
    char form = 0;
    int elementsBefore = json.elements();
    int numbersBefore = json.numbers();
    json.beginArray();
    while (json.nextElement()) {
      checkSize(field, json.elements() - elementsBefore, json.numbers() - numbersBefore);
      char each = form(json.peek());
      if (each == 0 || (form != 0 && form != each)) {
        json.skip();
        throw wrongPrompt(field);
      }
      form = each;
      if (each == '[') {
        json.beginArray();
        while (json.nextElement()) {
          token(field);
        }
      } else if (each == '0') {
        token(field);
      } else {
        json.skip();
      }
    }
    if (form == '[' || form == '0') {
      forms.put(field, Form.TOKENS);
    }
  }

  /** {@return the first byte of a text or array, 0 as a digit for a number, or else 0} */
  private static char form(int first) {
    if (first == '"' || first == '[') {
      return (char) first;
    }
    return first == '-' || JsonCursor.isDigit(first) ? '0' : 0;
  }

  private void token(BodyField field) throws JsonException, InvalidBodyException {
    boolean number = form(json.peek()) == '0';
    if (json.skipUnsigned() < 0) {
      if (!number) {
        throw wrongPrompt(field);
      }
      throw new InvalidBodyException(
          field.key(),
          field.key() + "'s tokens must be integers from 0 to " + JsonCursor.MAX_UNSIGNED);
    }
  }

  private static InvalidBodyException wrongPrompt(BodyField field) {
    return new InvalidBodyException(field.key(), field.key() + " must be " + field.type.words);
  }

  private static InvalidBodyException repeated(String path) {
    return new InvalidBodyException(path, path + " must not be repeated");
  }

  private InvalidBodyException invalid(JsonException e) {
    String where = " (byte " + (e.index() - offset) + ")";
    if (e.kind() == Kind.UTF8
        && inValue
        && top != null
        && top.end() - top.start() <= BodyField.Type.TEXT.maxBytes) {
      String name = Errors.shown(top.text(bytes));
      return new InvalidBodyException(name, name + " is not valid UTF-8" + where);
    }
    return new InvalidBodyException(null, "the body is not valid JSON: " + e.getMessage() + where);
  }
}
