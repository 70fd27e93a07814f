package io.kvasir.simulator.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.util.DefaultPrettyPrinter;
import com.fasterxml.jackson.core.util.Separators;
import io.kvasir.engine.adp.AdpReason;
import io.kvasir.fleet.router.whatif.WhatIfCounts;
import io.kvasir.simulator.fleet.FleetResult;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.DurationSummary;
import io.kvasir.simulator.replay.Objective;
import io.kvasir.simulator.replay.RankResult;
import io.kvasir.simulator.replay.Rejection;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReuseCurve;
import io.kvasir.simulator.replay.Spread;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Writes replay reports as one JSON document: an object for one report, an array for several.
 * Undefined values, such as a mean of nothing, are null. Only the first rejections are listed.
 * Thread-safe.
 */
public final class JsonReport {

  private static final int RATE_DECIMALS = 6;
  private static final int TIME_DECIMALS = 3;
  private static final int TRACE_BOUND_DECIMALS = 4;
  private static final int MAX_REJECTIONS = 100;
  private static final double NS_PER_S = 1e9;
  private static final double NS_PER_MS = 1e6;

  private static final JsonFactory JSON =
      JsonFactory.builder().disable(StreamWriteFeature.AUTO_CLOSE_TARGET).build();

  private static final Separators SEPARATORS =
      Separators.createDefaultInstance().withObjectFieldValueSpacing(Separators.Spacing.AFTER);

  private final JsonGenerator json;

  private JsonReport(JsonGenerator json) {
    this.json = json;
  }

  /**
   * Writes reports.
   *
   * @param reports at least one
   * @param out receives UTF-8; flushed, not closed
   * @throws IOException if {@code out} fails
   */
  public static void write(List<ReplayReport> reports, OutputStream out) throws IOException {
    try (JsonGenerator generator = JSON.createGenerator(out)) {
      generator.setPrettyPrinter(new DefaultPrettyPrinter(SEPARATORS));
      JsonReport report = new JsonReport(generator);
      if (reports.size() == 1) {
        report.writeReport(reports.get(0));
      } else {
        generator.writeStartArray();
        for (ReplayReport each : reports) {
          report.writeReport(each);
        }
        generator.writeEndArray();
      }
      generator.writeRaw('\n');
    }
  }

  private void writeReport(ReplayReport report) throws IOException {
    ReplayResult result = report.result();
    json.writeStartObject();
    json.writeStringField("router", result.settings().routing().router().id());
    json.writeStringField("workload", report.workload().name());
    json.writeNumberField("ranks", result.settings().ranks());
    json.writeNumberField("seed", report.seed());
    json.writeNumberField("requests", result.requests());
    json.writeNumberField("completed", result.completed());
    json.writeNumberField("rejected", result.rejected());
    writeRejections(result.rejections());
    FleetResult fleet = result.fleet();
    if (fleet != null && result.apart() != null) {
      Legs.write(result, result.apart(), fleet, json);
    } else if (fleet != null) {
      writeFleet(result, fleet);
    }
    if (fleet != null) {
      writeDelays(fleet.settings());
      if (!fleet.whatIf().isEmpty()) {
        writeWhatIf(fleet);
      }
    }
    writeRouting(result);
    writeCache(report);
    writeDurations("ttftMs", result.ttft());
    writeDurations("itlMs", result.itl());
    writeDurations("queueMs", result.queue());
    writeGoodput(result);
    json.writeNumberField("outputTokens", result.outputTokens());
    writeRounded("outputTokensPerSecond", result.outputTokensPerSecond(), TIME_DECIMALS);
    writeRounded("virtualSeconds", result.virtualSeconds(), TIME_DECIMALS);
    writeRounded("wallSeconds", result.wallSeconds(), TIME_DECIMALS);
    json.writeObjectFieldStart("decisions");
    for (Map.Entry<AdpReason, Long> decision : result.decisions().entrySet()) {
      json.writeNumberField(decision.getKey().id(), decision.getValue());
    }
    json.writeEndObject();
    json.writeNumberField("evictedBlocks", result.sum(RankResult::evictedBlocks));
    json.writeNumberField("preemptions", result.sum(RankResult::preemptions));
    writeRanks(result);
    if (result.reuse() != null) {
      writeReuse(result.reuse());
    }
    SettingsJson.write(report, json);
    json.writeStringField("build", report.basis().build());
    json.writeEndObject();
  }

  private void writeWhatIf(FleetResult fleet) throws IOException {
    json.writeArrayFieldStart("whatIf");
    for (WhatIfCounts counts : fleet.whatIf()) {
      Spread spread = WhatIf.spread(fleet, counts);
      json.writeStartObject();
      json.writeStringField("fleetRouter", counts.router());
      json.writeNumberField("refused", counts.refused());
      writeRounded("tokenHitRate", counts.hitRate(), RATE_DECIMALS);
      writeCounts("routedPerWorker", spread.requests());
      writeRounded("workerCv", spread.cv(), RATE_DECIMALS);
      writeRounded("workerMaxOverMin", spread.maxOverMin(), RATE_DECIMALS);
      writeRounded("ttftP50Ms", counts.firstTokenP50Ms(), TIME_DECIMALS);
      writeRounded("ttftP95Ms", counts.firstTokenP95Ms(), TIME_DECIMALS);
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private void writeFleet(ReplayResult result, FleetResult fleet) throws IOException {
    Spread spread = result.routedPerWorker();
    json.writeNumberField("workers", fleet.settings().workers());
    json.writeStringField("fleetRouter", fleet.settings().router().name());
    writeCounts("routedPerWorker", spread.requests());
    writeRounded("workerCv", spread.cv(), RATE_DECIMALS);
    writeRounded("workerMaxOverMin", spread.maxOverMin(), RATE_DECIMALS);
    writeRounded("workerMinOverMean", spread.minOverMean(), RATE_DECIMALS);
    json.writeObjectFieldStart("fleetDecisions");
    for (Map.Entry<String, Long> decision : fleet.decisions().entrySet()) {
      json.writeNumberField(decision.getKey(), decision.getValue());
    }
    json.writeEndObject();
    json.writeObjectFieldStart("fleetRouterArgs");
    for (Map.Entry<String, Object> arg : new TreeMap<>(fleet.settings().args()).entrySet()) {
      json.writePOJOField(arg.getKey(), arg.getValue());
    }
    json.writeEndObject();
  }

  private void writeDelays(FleetSettings settings) throws IOException {
    writeRounded("eventDelayMs", settings.eventDelayNs() / NS_PER_MS, TIME_DECIMALS);
    if (settings.router().readsMetrics()) {
      writeRounded("metricDelayMs", settings.metricDelayNs() / NS_PER_MS, TIME_DECIMALS);
      writeRounded("metricIntervalMs", settings.metricIntervalNs() / NS_PER_MS, TIME_DECIMALS);
    }
    if (!settings.returnNs().isEmpty()) {
      json.writeObjectFieldStart("returnSeconds");
      for (Map.Entry<Integer, Long> each : new TreeMap<>(settings.returnNs()).entrySet()) {
        writeRounded(each.getKey().toString(), each.getValue() / NS_PER_S, TIME_DECIMALS);
      }
      json.writeEndObject();
    }
  }

  private void writeCounts(String field, List<Long> counts) throws IOException {
    json.writeFieldName(field);
    json.writeArray(counts.stream().mapToLong(Long::longValue).toArray(), 0, counts.size());
  }

  private void writeRouting(ReplayResult result) throws IOException {
    writeCounts("routedPerRank", result.routedPerRank().requests());
    if (result.apart() == null) { // else a spread for each role
      writeRounded("routedCv", result.routedCv(), RATE_DECIMALS);
      writeRounded("routedMaxOverMin", result.routedMaxOverMin(), RATE_DECIMALS);
      writeRounded("routedMinOverMean", result.routedMinOverMean(), RATE_DECIMALS);
    }
  }

  private void writeCache(ReplayReport report) throws IOException {
    ReplayResult result = report.result();
    json.writeNumberField("inputTokens", result.inputTokens());
    json.writeNumberField("cachedTokens", result.cachedTokens());
    writeRounded("tokenHitRate", result.tokenHitRate(), RATE_DECIMALS);
    writeRounded("upperBoundTokenHitRate", result.upperBoundTokenHitRate(), RATE_DECIMALS);
    if (report.traceBlockUpperBound().isPresent()) {
      writeRounded(
          "traceBlockUpperBound",
          report.traceBlockUpperBound().getAsDouble(),
          TRACE_BOUND_DECIMALS);
    }
  }

  private void writeDurations(String field, DurationSummary durations) throws IOException {
    json.writeObjectFieldStart(field);
    writeRounded("mean", durations.meanMs(), TIME_DECIMALS);
    writeRounded("p50", durations.p50Ms(), TIME_DECIMALS);
    writeRounded("p90", durations.p90Ms(), TIME_DECIMALS);
    writeRounded("p95", durations.p95Ms(), TIME_DECIMALS);
    writeRounded("p99", durations.p99Ms(), TIME_DECIMALS);
    writeRounded("max", durations.maxMs(), TIME_DECIMALS);
    json.writeEndObject();
  }

  private void writeRanks(ReplayResult result) throws IOException {
    json.writeArrayFieldStart("perRank");
    for (int rank = 0; rank < result.ranks().size(); rank++) {
      RankResult of = result.ranks().get(rank);
      json.writeStartObject();
      if (result.fleet() != null) {
        json.writeNumberField("worker", rank / result.settings().ranks());
      }
      if (result.apart() != null) {
        json.writeStringField("role", Legs.role(result, rank));
      }
      json.writeNumberField("rank", rank % result.settings().ranks());
      json.writeNumberField("requests", of.requests());
      json.writeNumberField("inputTokens", of.inputTokens());
      json.writeNumberField("cachedTokens", of.cachedTokens());
      writeRounded("tokenHitRate", of.tokenHitRate(), RATE_DECIMALS);
      writeRounded("busySeconds", of.busyNs() / NS_PER_S, TIME_DECIMALS);
      json.writeNumberField("capacityBlocks", of.capacityBlocks());
      json.writeNumberField("peakActiveBlocks", of.peakActiveBlocks());
      json.writeNumberField("evictedBlocks", of.evictedBlocks());
      json.writeNumberField("preemptions", of.preemptions());
      if (!(result.settings().mode() instanceof ReplayMode.Aggregated)) {
        json.writeNumberField("peakInTransferRequests", of.peakInTransferRequests());
      }
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private void writeGoodput(ReplayResult result) throws IOException {
    Objective objective = result.settings().measures().objective();
    if (objective == null) {
      return;
    }
    json.writeObjectFieldStart("goodput");
    writeRounded("ttftMs", objective.ttftMs(), TIME_DECIMALS);
    writeRounded("tpotMs", objective.tpotMs(), TIME_DECIMALS);
    writeRounded("e2elMs", objective.e2elMs(), TIME_DECIMALS);
    json.writeNumberField("requests", result.goodRequests().orElse(0));
    writeRounded("requestsPerSecond", result.goodput().orElse(Double.NaN), TIME_DECIMALS);
    writeRounded("share", result.goodShare().orElse(Double.NaN), RATE_DECIMALS);
    json.writeEndObject();
  }

  private void writeReuse(ReuseCurve curve) throws IOException {
    json.writeArrayFieldStart("hitRateByPoolTokens");
    for (ReuseCurve.Point point : curve.points()) {
      json.writeStartArray();
      json.writeNumber(point.tokens());
      json.writeNumber(
          BigDecimal.valueOf(point.hitRate()).setScale(RATE_DECIMALS, RoundingMode.HALF_UP));
      json.writeEndArray();
    }
    json.writeEndArray();
  }

  private void writeRejections(List<Rejection> rejections) throws IOException {
    json.writeArrayFieldStart("rejections");
    for (Rejection rejection : rejections.subList(0, Math.min(MAX_REJECTIONS, rejections.size()))) {
      json.writeStartObject();
      json.writeNumberField("request", rejection.requestId());
      json.writeStringField("reason", rejection.reason());
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private void writeRounded(String field, double value, int decimals) throws IOException {
    if (Double.isFinite(value)) {
      json.writeNumberField(
          field, BigDecimal.valueOf(value).setScale(decimals, RoundingMode.HALF_UP));
    } else {
      json.writeNullField(field);
    }
  }
}
