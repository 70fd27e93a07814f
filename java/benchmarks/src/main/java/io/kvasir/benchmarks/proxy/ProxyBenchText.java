package io.kvasir.benchmarks.proxy;

import io.kvasir.simulator.report.Numbers;
import io.kvasir.simulator.report.TextTable;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * Formats the comparison with nginx for people.
 *
 * <p>Stateless.
 */
public final class ProxyBenchText {

  private static final int RATIO_DECIMALS = 2;
  private static final double MB = 1e6;

  private ProxyBenchText() {}

  /**
   * The table of the rounds.
   *
   * @param rounds all rounds
   * @return lines
   */
  public static String table(List<ProxyRound> rounds) {
    TextTable table = new TextTable();
    table.row(
        "median (lowest to highest)", "direct", "nginx", "kvasir", "kvasir / nginx", "bar", "");
    for (ProxyMetric metric : ProxyMetric.values()) {
      RoundSpread ratio = metric.ratio(rounds);
      ProxyBar bar = metric.bar();
      table.row(
          metric.label(),
          Numbers.decimals(metric.direct(rounds).median(), metric.decimals()),
          spread(metric.ofProxy(rounds, ProxyRound::nginx), metric.decimals()),
          spread(metric.ofProxy(rounds, ProxyRound::gateway), metric.decimals()),
          spread(ratio, RATIO_DECIMALS),
          bar.text(),
          bar.exists() ? (bar.keeps(ratio.median()) ? "kept" : "missed") : "");
    }
    table.row(
        "chunks/s in the measurement of CPU",
        pace(rounds, ProxyRound::direct),
        pace(rounds, ProxyRound::nginx),
        pace(rounds, ProxyRound::gateway));
    StringBuilder out = new StringBuilder();
    table.appendTo(out);
    return out.toString();
  }

  /**
   * What matching blocks adds to the gateway's own figures.
   *
   * @param rounds all rounds
   * @return lines; none if it was not measured
   */
  public static String matching(List<ProxyRound> rounds) {
    if (rounds.stream().anyMatch(round -> round.matching() == null)) {
      return "";
    }
    TextTable table = new TextTable();
    table.row(
        "exact routing, median (lowest to highest)", "kvasir", "matching adds", "new prompts add");
    for (ProxyMetric metric : ProxyMetric.values()) {
      table.row(
          metric.label(),
          spread(metric.ofProxy(rounds, ProxyRound::gateway), metric.decimals()),
          spread(metric.more(rounds, ProxyRound::matching, ProxyRound::gateway), metric.decimals()),
          spread(
              metric.more(rounds, ProxyRound::newPrompts, ProxyRound::gateway), metric.decimals()));
    }
    StringBuilder out = new StringBuilder();
    table.appendTo(out);
    return out.toString();
  }

  /**
   * The cost of a request that two engines serve, compared with one engine.
   *
   * @param rounds all rounds
   * @return lines; none if it was not measured
   */
  public static String twoLegs(List<ProxyRound> rounds) {
    if (rounds.stream().anyMatch(round -> round.twoLegs() == null)) {
      return "";
    }
    TextTable table = new TextTable();
    table.row("prefill and decode apart, median (lowest to highest)", "one leg", "two", "ratio");
    for (ProxyMetric metric : ProxyMetric.values()) {
      table.row(
          metric.label(),
          spread(metric.ofProxy(rounds, ProxyRound::gateway), metric.decimals()),
          spread(metric.ofProxy(rounds, ProxyRound::twoLegs), metric.decimals()),
          spread(metric.ratio(rounds, ProxyRound::twoLegs, ProxyRound::gateway), RATIO_DECIMALS));
    }
    StringBuilder out = new StringBuilder();
    table.appendTo(out);
    return out.toString();
  }

  private static String pace(List<ProxyRound> rounds, ProxyMetric.ToProxy server) {
    List<Double> paces =
        rounds.stream()
            .map(server::of)
            .filter(Objects::nonNull)
            .map(ServerFigures::chunksPerSecond)
            .toList();
    return Numbers.decimals(RoundSpread.of(paces).median(), 0);
  }

  private static String spread(RoundSpread spread, int decimals) {
    return Double.isFinite(spread.median())
        ? Numbers.decimals(spread.median(), decimals)
            + " ("
            + Numbers.decimals(spread.min(), decimals)
            + " to "
            + Numbers.decimals(spread.max(), decimals)
            + ")"
        : Numbers.decimals(spread.median(), decimals);
  }

  /**
   * The memory with idle streams.
   *
   * @param idle the figures
   * @return a line
   */
  public static String idle(IdleMemory idle) {
    return String.format(
        Locale.ROOT,
        "%,d idle streams: heap %.1f MB, %.1f MB without them (bar: at most %.0f MB), resident %.0f"
            + " MB; %s: %s%n",
        idle.streams(),
        idle.heapBytes() / MB,
        idle.heapBytesBefore() / MB,
        IdleMemory.MOST_HEAP_BYTES / MB,
        idle.residentBytes() / MB,
        idle.cancelled()
            ? "the engine's answers ended with their clients"
            : "the engine's answers did not end with their clients",
        idle.isKept() ? "kept" : "missed");
  }

  /**
   * The memory during many requests.
   *
   * @param growth the figures
   * @return lines
   */
  public static String growth(GrowthFigures growth) {
    TextTable table = new TextTable();
    table.row("requests", "heap MB", "resident MB");
    for (GrowthFigures.Tenth tenth : growth.tenths()) {
      table.row(
          Numbers.count(tenth.requests()),
          Numbers.decimals(tenth.heapBytes() / MB, 1),
          Numbers.decimals(tenth.residentBytes() / MB, 1));
    }
    StringBuilder out = new StringBuilder();
    table.appendTo(out);
    return out.append(
            String.format(
                Locale.ROOT,
                "memory %s: heap x %.3f and resident x %.3f from the first tenth to the last%n",
                growth.isFlat() ? "flat" : "grew",
                growth.heapGrowth(),
                growth.residentGrowth()))
        .toString();
  }
}
