package io.kvasir.gateway.keys;

import io.kvasir.exchange.Headers;
import java.util.List;
import java.util.Locale;

/**
 * The fields in which clients of OpenAI's, Anthropic's and Azure's APIs present keys. Stateless.
 */
public final class Credentials {

  /** Their names. Of those that a request has, the first counts. */
  public static final List<String> FIELDS = List.of("authorization", "x-api-key", "api-key");

  private static final String BEARER = "bearer ";

  private Credentials() {}

  /** The key that a request presents; empty for none. */
  static String presented(Headers headers) {
    for (String field : FIELDS) {
      String value = headers.get(field);
      if (value != null) {
        String text = value.strip();
        return text.toLowerCase(Locale.ROOT).startsWith(BEARER)
            ? text.substring(BEARER.length()).strip()
            : text;
      }
    }
    return "";
  }

  /**
   * Removes the fields, so that no engine receives them.
   *
   * @param headers the fields of a request
   */
  public static void remove(Headers headers) {
    FIELDS.forEach(headers::remove);
  }
}
