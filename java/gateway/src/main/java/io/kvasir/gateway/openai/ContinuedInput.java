package io.kvasir.gateway.openai;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Makes a request that continues a stored response into one that names none and has the whole
 * conversation, as vLLM's {@code construct_input_messages} does: the items of earlier inputs and
 * answers, but not those of the role {@code system}, and its own input. Stateless.
 *
 * <p>An input that begins with a tool's call is left as it is: vLLM does not join that call to the
 * answer before it, which no whole input can express.
 */
public final class ContinuedInput {

  private static final byte[] SYSTEM = "\"system\"".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CALL = "\"function_call\"".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] USER =
      "{\"role\":\"user\",\"content\":".getBytes(StandardCharsets.US_ASCII);

  private enum Key {
    ROLE,
    TYPE;

    static final NameTable<Key> TABLE = new NameTable<>(Key.class);
  }

  private final ByteArrayOutputStream items = new ByteArrayOutputStream();
  private final JsonCursor json = new JsonCursor();
  private boolean call;
  private boolean system;

  private ContinuedInput() {
    items.write('[');
  }

  /**
   * {@return the bytes of a body's input, as JSON; 0 if it has none}
   *
   * @param body the body
   */
  public static int size(BodyScan body) {
    JsonMember input = body.member(BodyField.INPUT);
    return input == null ? 0 : input.end() - input.value();
  }

  /**
   * {@return a copy of a body's input, as JSON}
   *
   * @param body a body with an input
   */
  public static byte[] of(BodyScan body) {
    JsonMember input = Objects.requireNonNull(body.member(BodyField.INPUT), "input");
    return Arrays.copyOfRange(body.bytes(), input.value(), input.end());
  }

  /**
   * Joins a conversation. O(bytes).
   *
   * @param body a request that continues a stored response
   * @param earlier the inputs and answers before it as JSON, each a text or an array, oldest first
   * @return the request with the whole conversation as its input; null if it cannot be expressed,
   *     or would not be valid
   */
  public static @Nullable BodyScan join(BodyScan body, List<byte[]> earlier) {
    JsonMember input = body.member(BodyField.INPUT);
    if (input == null) {
      return null;
    }
    ContinuedInput whole = new ContinuedInput();
    try {
      for (int i = 0; i < earlier.size(); i++) {
        byte[] each = earlier.get(i);
        if (!whole.add(each, 0, each.length, i == 0, false)) {
          return null;
        }
      }
      if (!whole.add(body.bytes(), input.value(), input.end(), false, true)) {
        return null;
      }
      return whole.of(new BodySplice(body));
    } catch (JsonException | InvalidBodyException e) {
      return null; // an engine's answer, or a conversation beyond the limits of one body
    }
  }

  private BodyScan of(BodySplice body) throws InvalidBodyException {
    items.write(']');
    body.remove(BodyField.PREVIOUS_RESPONSE_ID);
    body.set(BodyField.INPUT, items.toString(StandardCharsets.UTF_8));
    byte[] bytes = body.bytes();
    return BodyScan.of(bytes, 0, bytes.length);
  }

  /**
   * Adds the items of an input or an answer.
   *
   * @param first whether nothing is before it
   * @param last whether it is the request's own, whose system messages count
   * @return false if it cannot be added
   */
  private boolean add(byte[] bytes, int from, int to, boolean first, boolean last)
      throws JsonException {
    json.reset(bytes, from, to);
    if (json.peek() == '"') {
      begin();
      items.writeBytes(USER);
      items.write(bytes, from, to - from);
      items.write('}');
      return true;
    }
    json.beginArray();
    boolean leads = !first;
    while (json.nextElement()) {
      int start = json.at();
      readItem();
      if (leads && call) {
        return false;
      }
      leads = false;
      if (last || !system) {
        begin();
        items.write(bytes, start, json.at() - start);
      }
    }
    return true;
  }

  private void begin() {
    if (items.size() > 1) {
      items.write(',');
    }
  }

  /** Reads what an item is, and leaves it behind. */
  private void readItem() throws JsonException {
    call = false;
    system = false;
    if (json.peek() != '{') {
      json.skip();
      return;
    }
    json.beginObject();
    while (json.nextKey()) {
      Key key = Key.TABLE.find(json);
      if (key == Key.TYPE) {
        call |= json.skipIs(CALL);
      } else if (key == Key.ROLE) {
        system |= json.skipIs(SYSTEM);
      } else {
        json.skip();
      }
    }
  }
}
