package io.kvasir.simulator.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.Compared;
import io.kvasir.simulator.compare.Estimate;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/**
 * Writes a comparison of routers as one JSON array, an object for each load and pool size.
 *
 * <p>Stateless.
 */
public final class CellJson {

  private static final JsonFactory JSON =
      JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

  private CellJson() {}

  /**
   * Writes the document.
   *
   * @param cells what was compared
   * @param out where to; not closed
   * @throws IOException if it cannot be written
   */
  public static void write(List<Cell> cells, OutputStream out) throws IOException {
    try (JsonGenerator json =
        JSON.createGenerator(out).setPrettyPrinter(new DefaultPrettyPrinter())) {
      json.writeStartArray();
      for (Cell cell : cells) {
        write(cell, json);
      }
      json.writeEndArray();
    }
    out.write('\n');
  }

  private static void write(Cell cell, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("workload", cell.workload());
    json.writeNumberField("ranks", cell.load().ranks());
    json.writeNumberField("utilisation", cell.load().utilisation());
    json.writeNumberField("roundRobinUtilisation", cell.roundRobinShare());
    json.writeNumberField("poolTokens", cell.poolTokens());
    json.writeNumberField("speed", cell.speed());
    json.writeArrayFieldStart("routers");
    for (Compared router : cell.routers()) {
      json.writeStartObject();
      json.writeStringField("router", router.router().id());
      write("ttftP95Ms", router.ttftP95Ms(), json);
      write("ttftMeanMs", router.ttftMeanMs(), json);
      write("tokenHitRate", router.tokenHitRate(), json);
      write("routedCv", router.routedCv(), json);
      write("utilisation", router.prefillShare(), json);
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  static void write(String name, Estimate estimate, JsonGenerator json) throws IOException {
    json.writeObjectFieldStart(name);
    json.writeNumberField("mean", estimate.mean());
    if (!Double.isNaN(estimate.halfWidth())) {
      json.writeNumberField("halfWidth", estimate.halfWidth());
    }
    json.writeEndObject();
  }
}
