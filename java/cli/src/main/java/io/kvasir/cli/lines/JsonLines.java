package io.kvasir.cli.lines;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.model.Errors;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads operations, one JSON object a line, and writes one JSON object for each, in order. An
 * invalid line is answered with an error and changes nothing. Answers are flushed before the input
 * is waited for. Memory does not grow with the number of lines. Not thread-safe.
 */
public abstract class JsonLines {

  /** The most bytes of a line. */
  public static final int MAX_LINE_BYTES = 1 << 24;

  private static final int KEPT_ANSWER_BYTES = 1 << 20;

  private final ObjectLines lines;
  private final OutputStream out;
  private ByteArrayOutputStream answer = new ByteArrayOutputStream();
  private boolean allValid = true;

  /**
   * Makes a reader of lines.
   *
   * @param in the lines
   * @param out receives the answers
   * @param limit bounds the work of a line
   */
  protected JsonLines(InputStream in, OutputStream out, LineLimit limit) {
    this.lines = new ObjectLines(in, out, limit);
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
   * @throws OutOfMemoryError if a line runs out of memory; it and all lines before are answered
   */
  public final boolean run() throws IOException {
    try {
      while (lines.next()) {
        answer();
      }
      return allValid;
    } finally {
      out.flush();
    }
  }

  /** Writes an answer only when it is complete. */
  private void answer() throws IOException {
    OutOfMemoryError full = null;
    try {
      String error = error();
      if (error != null) {
        fail(error);
      }
    } catch (OutOfMemoryError e) {
      full = e;
      answer = new ByteArrayOutputStream();
      fail("out of memory: " + e.getMessage());
    }
    answer.write('\n');
    answer.writeTo(out);
    if (answer.size() > KEPT_ANSWER_BYTES) {
      answer = new ByteArrayOutputStream();
    }
    answer.reset();
    if (full != null) {
      throw full;
    }
  }

  /** Carries out the line. Returns what is wrong with it, or null. */
  private @Nullable String error() throws IOException {
    try (JsonGenerator generator = lines.generator(answer)) {
      carryOut(lines.object(), generator);
      return null;
    } catch (JsonProcessingException e) { // of an answer that would not be JSON
      return "not JSON: " + Errors.shown(e.getOriginalMessage());
    } catch (InvalidLineException | IllegalArgumentException | IllegalStateException e) {
      return Errors.reason(e);
    } catch (RuntimeException e) {
      return "internal error: " + e + " (please report it)";
    }
  }

  private void fail(String message) throws IOException {
    allValid = false;
    answer.reset();
    try (JsonGenerator generator = lines.generator(answer)) {
      generator.writeStartObject();
      generator.writeStringField("error", message);
      generator.writeNumberField("line", lines.number());
      generator.writeEndObject();
    }
  }

  /** {@return the bound of the work of the line that is carried out} */
  protected final LineLimit limit() {
    return lines.limit();
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
