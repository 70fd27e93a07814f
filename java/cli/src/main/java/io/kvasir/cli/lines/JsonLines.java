package io.kvasir.cli.lines;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Reads operations, one JSON object a line, and writes one JSON object for each, in order. A line
 * that cannot be carried out is answered with an error; it must have changed nothing. Memory does
 * not grow with the number of lines. Not thread-safe.
 */
public abstract class JsonLines {

  private static final int LONGEST_LINE = 1 << 26;

  /** Names are not kept: a field's name may be a request's id, and there is no end of them. */
  private final ObjectMapper mapper =
      JsonMapper.builder(
              JsonFactory.builder().disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES).build())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private final LineReader lines;
  private final OutputStream out;
  private long line;
  private boolean allValid = true;

  /**
   * Makes a reader of lines.
   *
   * @param in where the lines come from
   * @param out where the answers go
   */
  protected JsonLines(InputStream in, OutputStream out) {
    this.lines = new LineReader(in, LONGEST_LINE);
    this.out = out;
  }

  /**
   * Carries an operation out and writes its answer, one object. Throws before it has written or
   * changed anything.
   *
   * @param line the operation
   * @param answer where its answer goes
   * @throws IOException if the output fails
   */
  protected abstract void carryOut(JsonNode line, JsonGenerator answer) throws IOException;

  /**
   * Carries all lines out.
   *
   * @return false if one of them was not valid
   * @throws IOException if input or output fail
   */
  public final boolean run() throws IOException {
    try (JsonGenerator generator = mapper.createGenerator(out)) {
      generator.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
      generator.disable(JsonGenerator.Feature.FLUSH_PASSED_TO_STREAM);
      generator.setRootValueSeparator(null);
      while (lines.next()) {
        line++;
        answer(generator);
        generator.writeRaw('\n');
        if (!lines.moreIsThere()) {
          generator.flush();
          out.flush();
        }
      }
    }
    out.flush();
    return allValid;
  }

  private void answer(JsonGenerator generator) throws IOException {
    try {
      if (lines.tooLong()) {
        throw new InvalidLineException("a line may have " + LONGEST_LINE + " bytes");
      }
      JsonNode node = mapper.readTree(lines.bytes(), 0, lines.length());
      if (!node.isObject()) {
        throw new InvalidLineException("a line must be an object");
      }
      carryOut(node, generator);
    } catch (JsonProcessingException e) {
      fail("not JSON: " + e.getOriginalMessage(), generator);
    } catch (InvalidLineException
        | IllegalArgumentException
        | IllegalStateException
        | IndexOutOfBoundsException e) {
      fail(e.getMessage(), generator);
    }
  }

  private void fail(String message, JsonGenerator generator) throws IOException {
    allValid = false;
    generator.writeStartObject();
    generator.writeStringField("error", message);
    generator.writeNumberField("line", line);
    generator.writeEndObject();
  }

  /**
   * The operation of a line.
   *
   * @param line the line
   * @return its {@code op}; empty if there is none
   */
  protected static String op(JsonNode line) {
    JsonNode op = line.get("op");
    return op == null ? "" : op.asText();
  }

  /**
   * Carries out an operation without a result.
   *
   * @param operation what to do
   * @param answer where {@code {"ok":true}} goes
   * @throws IOException if the output fails
   */
  protected static void done(Runnable operation, JsonGenerator answer) throws IOException {
    operation.run();
    answer.writeStartObject();
    answer.writeBooleanField("ok", true);
    answer.writeEndObject();
  }

  /**
   * What reads JSON.
   *
   * @return the mapper
   */
  protected final ObjectMapper mapper() {
    return mapper;
  }
}
