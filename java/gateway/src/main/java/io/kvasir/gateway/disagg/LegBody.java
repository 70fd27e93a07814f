package io.kvasir.gateway.disagg;

import io.kvasir.exchange.Headers;
import io.kvasir.gateway.openai.BodyField;
import io.kvasir.gateway.openai.BodySplice;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/**
 * What the request of one leg has instead of the client's fields.
 *
 * <p>Confined to the request's event loop.
 */
public final class LegBody {

  /** A request that one worker serves as a whole. */
  public static final LegBody WHOLE = new LegBody();

  private final Map<BodyField, String> fields = new EnumMap<>(BodyField.class);
  private final Set<BodyField> removed = EnumSet.noneOf(BodyField.class);
  private final Headers headers = new Headers();

  LegBody() {}

  /** Sets a field to a value of JSON. */
  LegBody set(BodyField field, String json) {
    fields.put(field, json);
    return this;
  }

  LegBody remove(BodyField field) {
    removed.add(field);
    return this;
  }

  LegBody header(String name, String value) {
    headers.set(name, value);
    return this;
  }

  /** Drops the values, which can be as long as prompts: the request is not sent again. */
  public void clear() {
    if (this != WHOLE) {
      fields.clear();
    }
  }

  /**
   * Changes a request.
   *
   * @param body receives the fields
   * @param head receives the header fields
   */
  public void applyTo(BodySplice body, Headers head) {
    removed.forEach(body::remove);
    fields.forEach(body::set);
    headers.forEach(head::set);
  }
}
