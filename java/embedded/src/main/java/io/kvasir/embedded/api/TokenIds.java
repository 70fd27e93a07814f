package io.kvasir.embedded.api;

import com.fasterxml.jackson.databind.JsonNode;

/** Reads lists of token ids. Stateless. */
public final class TokenIds {

  private static final String ALLOWED = "an array of token ids from 0 to 2147483647";

  private TokenIds() {}

  /**
   * The token ids of a field.
   *
   * @throws ApiError if it is missing or has anything else
   */
  public static int[] read(RequestFields fields, String name) {
    JsonNode value = fields.get(name);
    if (value == null) {
      throw fields.missing(name);
    }
    return read(name, value);
  }

  /**
   * The token ids of a value.
   *
   * @param path where the value is, for errors
   * @throws ApiError if it has anything else
   */
  public static int[] read(String path, JsonNode value) {
    if (!value.isArray()) {
      throw RequestFields.wrongValue(path, ALLOWED, value);
    }
    int[] tokens = new int[value.size()];
    for (int i = 0; i < tokens.length; i++) {
      JsonNode token = value.get(i);
      if (!token.isIntegralNumber() || !token.canConvertToInt() || token.intValue() < 0) {
        throw RequestFields.wrongValue(path, ALLOWED, token);
      }
      tokens[i] = token.intValue();
    }
    return tokens;
  }
}
