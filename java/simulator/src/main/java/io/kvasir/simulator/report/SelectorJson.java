package io.kvasir.simulator.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import io.kvasir.simulator.compare.PrefixedPrompts;
import io.kvasir.simulator.compare.Selected;
import io.kvasir.simulator.compare.SelectorCell;
import io.kvasir.simulator.compare.SelectorComparison;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/**
 * Writes a comparison of selectors as one JSON document: what was set, and an object for each load.
 *
 * <p>Stateless.
 */
public final class SelectorJson {

  private static final double NS_PER_MS = 1e6;

  private static final JsonFactory JSON =
      JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

  private SelectorJson() {}

  /**
   * Writes the document.
   *
   * @param comparison what was set
   * @param cells what was compared
   * @param out where to; not closed
   * @throws IOException if it cannot be written
   */
  public static void write(
      SelectorComparison comparison, List<SelectorCell> cells, OutputStream out)
      throws IOException {
    try (JsonGenerator json =
        JSON.createGenerator(out).setPrettyPrinter(new DefaultPrettyPrinter())) {
      json.writeStartObject();
      writeSettings(comparison, json);
      json.writeArrayFieldStart("loads");
      for (SelectorCell cell : cells) {
        write(cell, json);
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    out.write('\n');
  }

  private static void writeSettings(SelectorComparison comparison, JsonGenerator json)
      throws IOException {
    PrefixedPrompts prompts = comparison.prompts();
    json.writeNumberField("instances", comparison.selection().instances());
    json.writeNumberField("poolTokens", comparison.each().poolTokens());
    json.writeNumberField("tokensPerBlock", comparison.each().tokensPerBlock());
    json.writeNumberField("prefixes", prompts.prefixes());
    json.writeNumberField("inputTokens", prompts.inputTokens());
    json.writeNumberField("outputTokens", prompts.outputTokens());
    json.writeNumberField("eventDelayMs", comparison.selection().eventDelayNs() / NS_PER_MS);
    json.writeNumberField("metricDelayMs", comparison.selection().metricDelayNs() / NS_PER_MS);
    json.writeNumberField(
        "metricIntervalMs", comparison.selection().metricIntervalNs() / NS_PER_MS);
    json.writeArrayFieldStart("seeds");
    for (long seed : comparison.seeds()) {
      json.writeNumber(seed);
    }
    json.writeEndArray();
  }

  private static void write(SelectorCell cell, JsonGenerator json) throws IOException {
    json.writeStartObject();
    json.writeStringField("lengths", cell.lengths().id());
    json.writeNumberField("requests", cell.requests());
    json.writeNumberField("concurrency", cell.concurrency());
    json.writeArrayFieldStart("selectors");
    for (Selected selected : cell.selectors()) {
      json.writeStartObject();
      json.writeStringField("selector", selected.selector().id());
      CellJson.write("ttftP50Ms", selected.ttftP50Ms(), json);
      CellJson.write("ttftP95Ms", selected.ttftP95Ms(), json);
      CellJson.write("itlP50Ms", selected.itlP50Ms(), json);
      CellJson.write("itlP95Ms", selected.itlP95Ms(), json);
      CellJson.write("behindPrompts", selected.behindPrompts(), json);
      CellJson.write("tokenHitRate", selected.tokenHitRate(), json);
      CellJson.write("routedCv", selected.routedCv(), json);
      CellJson.write("routedMaxOverMin", selected.routedMaxOverMin(), json);
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }
}
