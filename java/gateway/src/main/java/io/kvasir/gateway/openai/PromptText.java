package io.kvasir.gateway.openai;

import io.kvasir.fleet.router.Prompt;
import io.kvasir.fleet.router.PromptSource.Form;
import io.kvasir.fleet.router.TextSink;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The texts of a scanned body's prompt: those that {@link PromptReader} makes, without its objects.
 * Used once, by one thread.
 */
final class PromptText {

  private static final byte[] SYSTEM = "system:".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] COLON = {':'};
  private static final byte[] LINE_FEED = {'\n'};

  private static final byte[] ANSWER_ROLE =
      JsonText.quoted(Prompt.Message.ASSISTANT).getBytes(StandardCharsets.UTF_8);

  /** Type of an answer without a role: what the model calls, in the Responses API. */
  private static final byte[] CALL_TYPE = "\"function_call\"".getBytes(StandardCharsets.UTF_8);

  private final BodyScan body;
  private final byte[] bytes;
  private final TextSink out;
  private final JsonCursor json = new JsonCursor();

  /** Reads values whose range is known, while {@link #json} stays behind them. */
  private final JsonCursor inner = new JsonCursor();

  private boolean lines;
  private boolean inSystem;
  private boolean answered;

  /** Begins. */
  PromptText(BodyScan body, TextSink out) {
    this.body = body;
    this.bytes = body.bytes();
    this.out = out;
  }

  /** Reads it all; returns whether some message of a chat is an answer of the model. */
  boolean read() {
    Form form = body.prompt().form();
    BodyField field = body.prompt().field();
    if (field == null || form == null || form == Form.TOKENS) {
      throw new IllegalStateException("the body has no prompt with a text");
    }
    try {
      if (field == BodyField.MESSAGES) {
        JsonMember system = body.member(BodyField.SYSTEM);
        if (system != null) {
          beginLine();
          accept(SYSTEM);
          inSystem = true;
          content(system.value(), system.end());
          inSystem = false;
        }
        list(BodyField.MESSAGES, true);
      } else {
        list(field, form == Form.CHAT);
      }
    } catch (JsonException e) {
      throw new IllegalStateException("the body was changed after its scan", e);
    }
    return answered;
  }

  /** Passes on a text, or the messages or texts of a list, each on a line. */
  private void list(BodyField field, boolean chat) throws JsonException {
    JsonMember member = body.member(field);
    if (member == null) {
      return;
    }
    json.reset(bytes, member.value(), member.end());
    if (json.peek() == '"') {
      JsonText.accept(bytes, member.value(), member.end(), out);
      return;
    }
    json.beginArray();
    while (json.nextElement()) {
      int first = json.peek();
      int from = json.at();
      if (chat && (first == '{' || field == BodyField.MESSAGES)) {
        beginLine();
        message(first);
      } else {
        json.skip();
        if (!chat && first == '"') {
          beginText();
          JsonText.accept(bytes, from, json.at(), out);
        }
      }
    }
  }

  private void beginText() {
    if (lines) {
      out.next();
    }
    lines = true;
  }

  private void beginLine() {
    if (lines) {
      accept(LINE_FEED);
    }
    lines = true;
  }

  private void accept(byte[] text) {
    out.accept(text, 0, text.length);
  }

  /** Passes on a message; of a key that is repeated, the last value counts. */
  private void message(int first) throws JsonException {
    int role = 0;
    int roleEnd = 0;
    int content = 0;
    int contentEnd = 0;
    if (first == '{') {
      json.beginObject();
      while (json.nextKey()) {
        PromptReader.Key key = PromptReader.Key.TABLE.find(json);
        int from = json.at();
        json.skip();
        if (key == PromptReader.Key.ROLE) {
          role = from;
          roleEnd = json.at();
          answered |= isValue(from, ANSWER_ROLE);
        } else if (key == PromptReader.Key.TYPE) {
          answered |= isValue(from, CALL_TYPE);
        } else if (key == PromptReader.Key.CONTENT) {
          content = from;
          contentEnd = json.at();
        }
      }
    } else {
      json.skip();
    }
    text(role, roleEnd);
    accept(COLON);
    content(content, contentEnd);
  }

  /** Whether the value just read is this one. */
  private boolean isValue(int from, byte[] value) {
    return Arrays.equals(bytes, from, json.at(), value, 0, value.length);
  }

  /** Passes on a value if it is a text. */
  private void text(int from, int to) {
    if (isText(from, to)) {
      JsonText.accept(bytes, from, to, out);
    }
  }

  private boolean isText(int from, int to) {
    return to > from && bytes[from] == '"';
  }

  /** Passes on a text, or the texts of an array's parts that are not empty, each on a line. */
  private void content(int from, int to) throws JsonException {
    if (to == from || bytes[from] != '[') {
      text(from, to);
      return;
    }
    boolean parts = false;
    inner.reset(bytes, from, to);
    inner.beginArray();
    while (inner.nextElement()) {
      int text = inner.at();
      int end = text;
      if (inner.peek() == '{') {
        inner.beginObject();
        while (inner.nextKey()) {
          boolean isText = PromptReader.Key.TABLE.find(inner) == PromptReader.Key.TEXT;
          int value = inner.at();
          inner.skip();
          text = isText ? value : text;
          end = isText ? inner.at() : end;
        }
      } else {
        inner.skip();
        end = inner.at();
      }
      boolean dropped = inSystem && BillingText.is(bytes, text, end);
      if (isText(text, end) && end - text > 2 && !dropped) {
        if (parts) {
          accept(LINE_FEED);
        }
        parts = true;
        JsonText.accept(bytes, text, end, out);
      }
    }
  }
}
