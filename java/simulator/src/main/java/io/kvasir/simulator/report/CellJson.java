package io.kvasir.simulator.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import io.kvasir.simulator.compare.Cell;
import io.kvasir.simulator.compare.Compared;
import io.kvasir.simulator.compare.Estimate;
import io.kvasir.simulator.compare.Load;
import io.kvasir.simulator.compare.Measure;
import io.kvasir.simulator.compare.PlayedLoad;
import io.kvasir.simulator.compare.Ratio;
import io.kvasir.simulator.compare.Setting;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Writes router comparisons as one JSON document with one object per load.
 *
 * <p>Stateless.
 */
public final class CellJson {

  private static final JsonFactory JSON =
      JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

  private CellJson() {}

  /**
   * Writes a comparison as an array.
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
        if (setting.apart()) {
          json.writeNumberField("prefillWorkers", setting.prefillWorkers());
          json.writeNumberField("decodeWorkers", setting.decodeWorkers());
        }
        if (setting.load() instanceof Load.Share share) {
          json.writeNumberField("utilisation", share.utilisation());
          json.writeNumberField("reachedUtilisation", load.reachedShare());
        } else if (setting.load() instanceof Load.InFlight loop) {
          json.writeNumberField("concurrency", loop.requests());
        }
        json.writeNumberField("poolTokens", setting.poolTokens());
        json.writeNumberField("burstSeconds", setting.traffic().burstSeconds());
        json.writeStringField("stepTiming", setting.engines().name());
        json.writeStringField("engines", setting.engines().kind().id());
        SettingsJson.writeSight(setting.sight(), json);
        SettingsJson.writeGroups(setting.groups(), json);
        json.writeNumberField("speed", load.speed());
        writePolicies(cell, json);
        json.writeEndObject();
      }
      json.writeEndArray();
    }
    out.write('\n');
  }

  private static JsonGenerator generator(OutputStream out) throws IOException {
    return JSON.createGenerator(out).setPrettyPrinter(new DefaultPrettyPrinter());
  }

  private static void writePolicies(Cell<?> cell, JsonGenerator json) throws IOException {
    json.writeArrayFieldStart("routers");
    for (Compared policy : cell.policies()) {
      json.writeStartObject();
      json.writeStringField("router", policy.policy());
      for (Measure measure : new TreeSet<>(policy.estimates().keySet())) {
        write(measure.key(), policy.of(measure), json);
      }
      if (cell.saturated()) {
        write("capacity", cell.capacity(policy.policy()), json);
      }
      write("p95OverBestOther", cell.ratio(Measure.TTFT_P95_MS, policy.policy()), json);
      write("p50OverBestOther", cell.ratio(Measure.TTFT_P50_MS, policy.policy()), json);
      write("p99OverBestOther", cell.ratio(Measure.TTFT_P99_MS, policy.policy()), json);
      write("meanOverBestOther", cell.ratio(Measure.TTFT_MEAN_MS, policy.policy()), json);
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private static void write(String field, @Nullable Ratio ratio, JsonGenerator json)
      throws IOException {
    if (ratio != null) {
      json.writeObjectFieldStart(field);
      json.writeNumberField("mean", ratio.mean());
      if (!Double.isNaN(ratio.low())) {
        json.writeNumberField("low", ratio.low());
        json.writeNumberField("high", ratio.high());
      }
      json.writeEndObject();
    }
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
