package io.kvasir.embedded.api;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Reads and writes JSON within limits. Stateless. */
public final class Json {

  /** Most bytes of a request's body. */
  static final int MAX_BYTES = 32 << 20;

  private static final int MAX_DEPTH = 100;

  private static final ObjectMapper MAPPER =
      new ObjectMapper(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(MAX_DEPTH)
                          .maxStringLength(MAX_BYTES)
                          .maxDocumentLength(MAX_BYTES)
                          .build())
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private Json() {}

  /**
   * Reads a request's body, which stays as it is. O(bytes).
   *
   * @throws ApiError if it is too large or no JSON object
   */
  public static ObjectNode read(ByteBuf body) {
    if (body.readableBytes() > MAX_BYTES) {
      throw tooLarge();
    }
    try (InputStream bytes = new ByteBufInputStream(body.duplicate())) {
      JsonNode root = MAPPER.readTree(bytes);
      if (root instanceof ObjectNode object) {
        return object;
      }
      throw malformed("the body must be a JSON object");
    } catch (JsonProcessingException e) {
      throw malformed("the body is not valid JSON: " + e.getOriginalMessage());
    } catch (IOException e) {
      throw malformed("the body is not valid JSON: " + e.getMessage());
    }
  }

  static ApiError tooLarge() {
    return ApiError.of(
        ApiError.TOO_LARGE,
        "request_too_large",
        "the body must have at most " + MAX_BYTES + " bytes");
  }

  /** Reads an array that was written here. O(bytes). */
  static ArrayNode readArray(byte[] bytes) {
    try {
      return (ArrayNode) MAPPER.readTree(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads a value that is a text in a request. O(characters).
   *
   * @param field where the text is, for errors
   * @throws ApiError if it is not JSON
   */
  public static JsonNode parse(String field, String text) {
    try {
      return MAPPER.readTree(text);
    } catch (JsonProcessingException e) {
      throw ApiError.invalid(field, field + " must be JSON: " + e.getOriginalMessage());
    }
  }

  private static ApiError malformed(String message) {
    return ApiError.of(ApiError.BAD_REQUEST, "invalid_json", message);
  }

  /** A new object. */
  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** A new array. */
  public static ArrayNode array() {
    return MAPPER.createArrayNode();
  }

  /** A value as UTF-8. O(size). */
  public static byte[] bytes(JsonNode value) {
    try {
      return MAPPER.writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree can always be written", e);
    }
  }

  /** A value as text. O(size). */
  static String text(JsonNode value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree can always be written", e);
    }
  }
}
