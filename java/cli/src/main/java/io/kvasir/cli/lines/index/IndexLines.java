package io.kvasir.cli.lines.index;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.JsonLines;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/**
 * Reads events of engines and questions about what their ranks hold, one JSON object a line, and
 * writes one JSON object for each, in order. A line that cannot be carried out is answered with an
 * error and changes nothing. Not thread-safe.
 */
public final class IndexLines extends JsonLines implements AutoCloseable {

  private IndexOperations operations;

  /**
   * Makes a reader of lines.
   *
   * @param in where the lines come from
   * @param out where the answers go
   */
  public IndexLines(InputStream in, OutputStream out) {
    super(in, out);
  }

  @Override
  protected void carryOut(JsonNode line, JsonGenerator answer) throws IOException {
    switch (op(line)) {
      case "configure" -> done(() -> configure(line), answer);
      case "event" -> done(() -> configured().event(line), answer);
      case "snapshot" -> done(() -> configured().snapshot(line), answer);
      case "remove_worker" -> done(() -> configured().removeWorker(line), answer);
      case "match" -> configured().match(line, answer);
      case "stats" -> configured().stats(line, answer);
      case "predict" -> configured().predict(line, answer);
      default ->
          throw new InvalidLineException(
              "op must be one of configure, event, snapshot, remove_worker, match, stats, predict,"
                  + " not "
                  + line.get("op"));
    }
  }

  /** Everything is made anew; what fails leaves the old index in place. */
  private void configure(JsonNode line) {
    IndexOperations configured = IndexOperations.configured(line);
    close();
    operations = configured;
  }

  private IndexOperations configured() {
    if (operations == null) {
      throw new InvalidLineException("this op needs a configure before it");
    }
    return operations;
  }

  @Override
  public void close() {
    if (operations != null) {
      operations.close();
      operations = null;
    }
  }
}
