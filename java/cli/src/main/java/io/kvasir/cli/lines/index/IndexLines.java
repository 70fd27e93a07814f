package io.kvasir.cli.lines.index;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import io.kvasir.cli.lines.InvalidLineException;
import io.kvasir.cli.lines.JsonLines;
import io.kvasir.cli.lines.LineLimit;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The operations of {@code kvasir index}: block events, and queries for the blocks that ranks hold.
 * Not thread-safe.
 */
public final class IndexLines extends JsonLines implements AutoCloseable {

  private @Nullable IndexOperations operations;

  /**
   * Makes a reader of lines.
   *
   * @param in the lines
   * @param out receives the answers
   * @param limit bounds the work of a line
   */
  public IndexLines(InputStream in, OutputStream out, LineLimit limit) {
    super(in, out, limit);
  }

  @Override
  protected void carryOut(JsonNode line, JsonGenerator answer) throws IOException {
    switch (op(line)) {
      case "configure" -> done(() -> configure(line), answer);
      case "event" -> configured().event(line, answer);
      case "snapshot" -> configured().snapshot(line, answer);
      case "remove_worker" -> configured().removeWorker(line, answer);
      case "match" -> configured().match(line, answer);
      case "stats" -> configured().stats(line, answer);
      case "predict", "add_rank", "select", "poll" ->
          configured().former().carryOut(op(line), line, answer);
      default ->
          throw new InvalidLineException(
              "op must be one of configure, event, snapshot, remove_worker, match, stats, predict,"
                  + " add_rank, select, poll, not "
                  + Errors.shown(line.get("op")));
    }
  }

  /** Replaces the index. If this fails, the old index stays. */
  private void configure(JsonNode line) {
    IndexOperations configured = IndexOperations.configured(line, limit());
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
