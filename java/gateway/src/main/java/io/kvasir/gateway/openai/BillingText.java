package io.kvasir.gateway.openai;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The part of an Anthropic {@code system} that Claude Code writes for its own bills. It differs
 * with each request, and vLLM drops it before it makes tokens. Stateless.
 */
public final class BillingText {

  static final String PREFIX = "x-anthropic-billing-header";

  private static final byte[] BEGIN = ('"' + PREFIX).getBytes(StandardCharsets.UTF_8);

  private BillingText() {}

  /** Whether a text in JSON is one for bills. */
  static boolean is(byte[] bytes, int from, int to) {
    return to - from > BEGIN.length
        && Arrays.equals(bytes, from, from + BEGIN.length, BEGIN, 0, BEGIN.length);
  }

  /**
   * {@return the {@code system} of a body without such parts, as JSON; null if it has none}
   *
   * @param body the body
   */
  public static @Nullable String dropped(BodyScan body) {
    JsonMember system = body.member(BodyField.SYSTEM);
    if (system == null || body.bytes()[system.value()] != '[') {
      return null;
    }
    StringBuilder kept = new StringBuilder("[");
    boolean dropped = false;
    JsonCursor json = new JsonCursor();
    try {
      json.reset(body.bytes(), system.value(), system.end());
      json.beginArray();
      while (json.nextElement()) {
        int from = json.at();
        if (skipsBilling(json, body.bytes())) {
          dropped = true;
        } else {
          kept.append(kept.length() > 1 ? "," : "")
              .append(new String(body.bytes(), from, json.at() - from, StandardCharsets.UTF_8));
        }
      }
    } catch (JsonException e) {
      throw new IllegalStateException("the body was changed after its scan", e);
    }
    return dropped ? kept.append(']').toString() : null;
  }

  /** Skips a part; true if it is one for bills. */
  private static boolean skipsBilling(JsonCursor json, byte[] bytes) throws JsonException {
    if (json.peek() != '{') {
      json.skip();
      return false;
    }
    boolean found = false;
    json.beginObject();
    while (json.nextKey()) {
      boolean text = PromptReader.Key.TABLE.find(json) == PromptReader.Key.TEXT;
      int from = json.at();
      json.skip();
      found = text ? is(bytes, from, json.at()) : found;
    }
    return found;
  }
}
