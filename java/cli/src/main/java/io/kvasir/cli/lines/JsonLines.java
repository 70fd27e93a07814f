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
 * Reads operations, one JSON object a line, and writes one JSON object for each, in order. An
 * invalid line is answered with an error and changes nothing. Memory does not grow with the number
 * of lines. Not thread-safe.
 */
public abstract class JsonLines {

  private static final int MAX_LINE_BYTES = 1 << 26;

  /** Field names are not cached: a name can be the id of a request, and ids are unbounded. */
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
   * @param in the lines
   * @param out receives the answers
   */
  protected JsonLines(InputStream in, OutputStream out) {
    this.lines = new LineReader(in, MAX_LINE_BYTES);
    this.out = out;
  }

  /**
   * Carries out an operation and writes its answer, one object. An invalid operation throws {@link
   * InvalidLineException} before it writes or changes anything.
   *
   * @param line the operation
   * @param answer receives the answer
   * @throws IOException if the output fails
   */
  protected abstract void carryOut(JsonNode line, JsonGenerator answer) throws IOException;

  /**
   * Carries out all lines.
   *
   * @return whether all lines were valid
   * @throws IOException if the input or the output fails
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
        throw new InvalidLineException("a line may have at most " + MAX_LINE_BYTES + " bytes");
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
   * {@return the {@code op} of a line; empty if absent}
   *
   * @param line the line
   */
  protected static String op(JsonNode line) {
    JsonNode op = line.get("op");
    return op == null ? "" : op.asText();
  }

  /**
   * Carries out an operation without a result.
   *
   * @param operation the operation
   * @param answer receives {@code {"ok":true}}
   * @throws IOException if the output fails
   */
  protected static void done(Runnable operation, JsonGenerator answer) throws IOException {
    operation.run();
    answer.writeStartObject();
    answer.writeBooleanField("ok", true);
    answer.writeEndObject();
  }
}
