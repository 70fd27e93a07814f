package io.kvasir.simulator.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.ClosedLoad;
import io.kvasir.simulator.compare.Compared;
import io.kvasir.simulator.compare.Estimate;
import io.kvasir.simulator.compare.FleetComparison;
import io.kvasir.simulator.compare.Measure;
import io.kvasir.simulator.compare.PlayedLoad;
import io.kvasir.simulator.compare.PrefixedPrompts;
import io.kvasir.simulator.compare.Ratio;
import io.kvasir.simulator.compare.Setting;
import io.kvasir.simulator.fleet.FleetSettings;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;

/**
 * Writes router comparisons as one JSON document with one object per load.
 *
 * <p>Stateless.
 */
public final class CellJson {

  private static final double NS_PER_MS = 1e6;

  private static final JsonFactory JSON =
      JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

  /** Figures of ADP routers, in the order of the report. */
  private static final List<Measure> ADP =
      List.of(
          Measure.TTFT_P95_MS,
          Measure.TTFT_MEAN_MS,
          Measure.TOKEN_HIT_RATE,
          Measure.ROUTED_CV,
          Measure.REJECTED,
          Measure.PREFILL_SHARE);

  /** Figures of fleet routers, in the order of the report. */
  private static final List<Measure> FLEET =
      List.of(
          Measure.TTFT_P50_MS,
          Measure.TTFT_P95_MS,
          Measure.ITL_P50_MS,
          Measure.ITL_P95_MS,
          Measure.BEHIND_PROMPTS,
          Measure.TOKEN_HIT_RATE,
          Measure.ROUTED_CV,
          Measure.ROUTED_MAX_OVER_MIN);

  private CellJson() {}

  /**
   * Writes a comparison of ADP routers as an array.
   *
   * @param cells the results
   * @param out receives UTF-8; not closed
   * @throws IOException if {@code out} fails
   */
  public static void write(List<Cell<PlayedLoad>> cells, OutputStream out) throws IOException {
    try (JsonGenerator json = generator(out)) {
      json.writeStartArray();
      for (Cell<PlayedLoad> cell : cells) {
        PlayedLoad load = cell.load();
        json.writeStartObject();
        Setting setting = load.setting();
        json.writeStringField("workload", setting.traffic().name());
        json.writeStringField("mode", setting.mode().id());
        json.writeNumberField("ranks", setting.load().ranks());
        json.writeNumberField("utilisation", setting.load().utilisation());
        json.writeNumberField("reachedUtilisation", load.reachedShare());
        json.writeNumberField("poolTokens", setting.poolTokens());
        json.writeNumberField("speed", load.speed());
        writePolicies("routers", "router", cell, ADP, json);
        json.writeEndObject();
      }
      json.writeEndArray();
    }
    out.write('\n');
  }

  /**
   * Writes a comparison of fleet routers as an object with its settings and loads.
   *
   * @param comparison its settings
   * @param fleet the workers and the delays, the same for all routers
   * @param cells the results
   * @param out receives UTF-8; not closed
   * @throws IOException if {@code out} fails
   */
  public static void write(
      FleetComparison comparison,
      FleetSettings fleet,
      List<Cell<ClosedLoad>> cells,
      OutputStream out)
      throws IOException {
    try (JsonGenerator json = generator(out)) {
      json.writeStartObject();
      writeSettings(comparison, fleet, json);
      json.writeArrayFieldStart("loads");
      for (Cell<ClosedLoad> cell : cells) {
        json.writeStartObject();
        json.writeStringField("lengths", cell.load().lengths().id());
        json.writeNumberField("requests", cell.load().requests());
        json.writeNumberField("concurrency", cell.load().concurrency());
        writePolicies("selectors", "selector", cell, FLEET, json);
        json.writeEndObject();
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    out.write('\n');
  }

  private static JsonGenerator generator(OutputStream out) throws IOException {
    return JSON.createGenerator(out).setPrettyPrinter(new DefaultPrettyPrinter());
  }

  private static void writeSettings(
      FleetComparison comparison, FleetSettings fleet, JsonGenerator json) throws IOException {
    PrefixedPrompts prompts = comparison.prompts();
    json.writeNumberField("instances", fleet.workers());
    json.writeNumberField("poolTokens", comparison.each().pool().tokens());
    json.writeNumberField("tokensPerBlock", comparison.each().pool().tokensPerBlock());
    json.writeNumberField("prefixes", prompts.prefixes());
    json.writeNumberField("inputTokens", prompts.inputTokens());
    json.writeNumberField("outputTokens", prompts.outputTokens());
    json.writeNumberField("eventDelayMs", fleet.eventDelayNs() / NS_PER_MS);
    json.writeNumberField("metricDelayMs", fleet.metricDelayNs() / NS_PER_MS);
    json.writeNumberField("metricIntervalMs", fleet.metricIntervalNs() / NS_PER_MS);
    json.writeArrayFieldStart("seeds");
    for (long seed : comparison.seeds()) {
      json.writeNumber(seed);
    }
    json.writeEndArray();
  }

  private static void writePolicies(
      String field, String nameField, Cell<?> cell, List<Measure> measures, JsonGenerator json)
      throws IOException {
    json.writeArrayFieldStart(field);
    for (Compared policy : cell.policies()) {
      json.writeStartObject();
      json.writeStringField(nameField, policy.policy());
      for (Measure measure : measures) {
        write(measure.key(), policy.of(measure), json);
      }
      if (cell.saturated()) {
        write("capacity", cell.capacity(policy.policy()), json);
      }
      Ratio ratio = cell.ratios().get(policy.policy());
      if (ratio != null) {
        json.writeObjectFieldStart("p95OverBestOther");
        json.writeNumberField("mean", ratio.mean());
        json.writeNumberField("low", ratio.low());
        json.writeNumberField("high", ratio.high());
        json.writeEndObject();
      }
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private static void write(String field, Estimate estimate, JsonGenerator json)
      throws IOException {
    json.writeObjectFieldStart(field);
    json.writeNumberField("mean", estimate.mean());
    if (!Double.isNaN(estimate.halfWidth())) {
      json.writeNumberField("halfWidth", estimate.halfWidth());
    }
    json.writeEndObject();
  }
}
