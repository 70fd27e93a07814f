package io.kvasir.simulator.report;

import static io.kvasir.simulator.report.Numbers.count;
import static io.kvasir.simulator.report.Numbers.decimals;
import static io.kvasir.simulator.report.Numbers.percent;
import static io.kvasir.simulator.report.Numbers.rate;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.simulator.fleet.ApartResult;
import io.kvasir.simulator.fleet.ApartSettings;
import io.kvasir.simulator.fleet.FleetResult;
import io.kvasir.simulator.fleet.FleetSettings;
import io.kvasir.simulator.replay.RankResult;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.Spread;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What reports say of prefill and decode on different workers. Stateless. */
final class Legs {

  private static final double PERCENT = 100;
  private static final int DECIMALS = 6;

  private Legs() {}

  /** The numbers of workers. */
  static String workers(ApartResult apart) {
    return count(apart.settings().prefill().workers())
        + " prefill and "
        + count(apart.settings().decode().workers())
        + " decode workers";
  }

  /** The role of a rank's worker. */
  static String role(ReplayResult result, int rank) {
    return rank < result.prefillRanks().size() ? "prefill" : "decode";
  }

  /** The name of a worker; those of prefill come first. */
  static String worker(ReplayResult result, int worker) {
    int prefills = result.prefillRanks().size() / result.settings().ranks();
    return worker < prefills ? "p" + worker : "d" + (worker - prefills);
  }

  /** Facts by name. */
  static Map<String, String> facts(ApartResult apart) {
    Map<String, String> facts = new LinkedHashMap<>();
    int limit = apart.settings().maxLocalPrefillTokens();
    facts.put(
        "local prefills",
        "%s, %s %% of the requests, %s"
            .formatted(
                count(apart.localRequests()),
                decimals(PERCENT * apart.localShare(), 1),
                limit < 0 ? "by forecast" : "at most " + count(limit) + " tokens missing"));
    facts.put(
        "transfers",
        "%s, mean %s ms, longest %s ms; %s of %s tokens moved"
            .formatted(
                count(apart.transfers()),
                decimals(apart.meanTransferMs(), 2),
                decimals(apart.longestTransferMs(), 2),
                count(apart.movedTokens()),
                count(apart.neededTokens())));
    return facts;
  }

  /** A table of the rows of {@link #rows}. */
  static TextTable table(ReplayResult result) {
    TextTable table =
        new TextTable()
            .row("role", "ranks", "requests", "prompt tokens", "from cache", "hit rate", "busy");
    rows(result).forEach(row -> table.row(row.toArray(String[]::new)));
    return table;
  }

  /** Role, ranks, requests, prompt tokens, cached ones, hit rate and busy share of each role. */
  static List<List<String>> rows(ReplayResult result) {
    List<List<String>> rows = new ArrayList<>();
    for (boolean prefill : List.of(true, false)) {
      List<RankResult> ranks = prefill ? result.prefillRanks() : result.decodeRanks();
      long input = ranks.stream().mapToLong(RankResult::inputTokens).sum();
      long cached = ranks.stream().mapToLong(RankResult::cachedTokens).sum();
      long busyNs = ranks.stream().mapToLong(RankResult::busyNs).sum();
      rows.add(
          List.of(
              prefill ? "prefill" : "decode",
              count(ranks.size()),
              count(ranks.stream().mapToLong(RankResult::requests).sum()),
              count(input),
              count(cached),
              rate((double) cached / input),
              percent((double) busyNs / result.virtualNs() / ranks.size())));
    }
    return rows;
  }

  /** The fields of JSON reports. */
  static void write(
      ReplayResult result, ApartResult apart, FleetResult prefills, JsonGenerator json)
      throws IOException {
    ApartSettings settings = apart.settings();
    json.writeNumberField("prefillWorkers", settings.prefill().workers());
    json.writeNumberField("decodeWorkers", settings.decode().workers());
    writeRouter(json, "prefill", settings.prefill());
    writeRouter(json, "decode", settings.decode());
    writeCounts(json, "prefillDecisions", prefills.decisions());
    writeCounts(json, "decodeDecisions", apart.decode().decisions());
    if (settings.maxLocalPrefillTokens() >= 0) {
      json.writeNumberField("maxLocalPrefillTokens", settings.maxLocalPrefillTokens());
    } else {
      json.writeNullField("maxLocalPrefillTokens");
    }
    writeCounts(json, "localPrefills", apart.local());
    rounded(json, "localPrefillShare", apart.localShare());
    List<RankResult> prefill = result.prefillRanks();
    rounded(
        json,
        "prefillTokenHitRate",
        (double) prefill.stream().mapToLong(RankResult::cachedTokens).sum()
            / prefill.stream().mapToLong(RankResult::inputTokens).sum());
    json.writeNumberField("transfers", apart.transfers());
    rounded(json, "meanTransferMs", apart.meanTransferMs());
    rounded(json, "longestTransferMs", apart.longestTransferMs());
    json.writeNumberField("movedTokens", apart.movedTokens());
    json.writeNumberField("neededTokens", apart.neededTokens());
    writeSpread(json, "prefillRank", result.routedPerPrefillRank());
    writeSpread(json, "decodeRank", result.routedPerDecodeRank());
  }

  private static void writeSpread(JsonGenerator json, String ranks, Spread spread)
      throws IOException {
    rounded(json, ranks + "Cv", spread.cv());
    rounded(json, ranks + "MaxOverMin", spread.maxOverMin());
    rounded(json, ranks + "MinOverMean", spread.minOverMean());
  }

  private static void writeRouter(JsonGenerator json, String role, FleetSettings fleet)
      throws IOException {
    json.writeStringField(role + "Router", fleet.router().name());
    json.writeObjectFieldStart(role + "RouterArgs");
    for (Map.Entry<String, Object> arg : new TreeMap<>(fleet.args()).entrySet()) {
      json.writePOJOField(arg.getKey(), arg.getValue());
    }
    json.writeEndObject();
  }

  private static void writeCounts(JsonGenerator json, String field, Map<String, Long> counts)
      throws IOException {
    json.writeObjectFieldStart(field);
    for (Map.Entry<String, Long> entry : counts.entrySet()) {
      json.writeNumberField(entry.getKey(), entry.getValue());
    }
    json.writeEndObject();
  }

  private static void rounded(JsonGenerator json, String field, double value) throws IOException {
    if (Double.isFinite(value)) {
      json.writeNumberField(
          field, BigDecimal.valueOf(value).setScale(DECIMALS, RoundingMode.HALF_UP));
    } else {
      json.writeNullField(field);
    }
  }
}
