package io.kvasir.cli.lines;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kvasir.model.Errors;
import java.io.Flushable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Reads lines, each with one JSON object. Memory does not grow with the number of lines. Not
 * thread-safe.
 */
public final class ObjectLines {

  /** Field names are not cached: a name can be the id of a request, and ids are unbounded. */
  private final ObjectMapper mapper =
      JsonMapper.builder(
              JsonFactory.builder().disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES).build())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private final LineReader lines;
  private final LineLimit limit;
  private long number;

  /**
   * Makes a reader.
   *
   * @param in the lines
   * @param beforeWait flushed before a read that may wait for input
   * @param limit bounds the work of a line
   */
  public ObjectLines(InputStream in, Flushable beforeWait, LineLimit limit) {
    this.lines = new LineReader(in, beforeWait, JsonLines.MAX_LINE_BYTES);
    this.limit = limit;
  }

  /**
   * {@return whether there is another line, which is then the current one}
   *
   * @throws IOException if the input cannot be read
   */
  public boolean next() throws IOException {
    if (!lines.next()) {
      return false;
    }
    number++;
    return true;
  }

  /** {@return the number of the current line, from 1} */
  public long number() {
    return number;
  }

  /** {@return whether the current line ends with a newline, which the last one may lack} */
  public boolean isTerminated() {
    return lines.isTerminated();
  }

  /**
   * {@return the object of the current line; starts its limit}
   *
   * @throws InvalidLineException if the line is too long, not JSON, not an object, or exceeds the
   *     limit
   * @throws IOException never: the line has been read
   */
  public JsonNode object() throws IOException {
    if (lines.tooLong()) {
      throw new InvalidLineException(
          "a line may have at most " + JsonLines.MAX_LINE_BYTES + " bytes");
    }
    JsonNode node;
    try {
      node = mapper.readTree(lines.bytes(), 0, lines.length());
    } catch (JsonProcessingException e) {
      throw new InvalidLineException("not JSON: " + Errors.shown(e.getOriginalMessage()));
    }
    if (!node.isObject()) {
      throw new InvalidLineException("a line must be an object");
    }
    limit.start(node);
    return node;
  }

  /** {@return the bound of the work of a line} */
  LineLimit limit() {
    return limit;
  }

  JsonGenerator generator(OutputStream out) throws IOException {
    return mapper.createGenerator(out);
  }
}
