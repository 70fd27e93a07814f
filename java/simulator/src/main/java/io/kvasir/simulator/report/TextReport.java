package io.kvasir.simulator.report;

import static io.kvasir.simulator.report.Numbers.count;
import static io.kvasir.simulator.report.Numbers.decimals;
import static io.kvasir.simulator.report.Numbers.measure;
import static io.kvasir.simulator.report.Numbers.percent;
import static io.kvasir.simulator.report.Numbers.rate;

import io.kvasir.route.Reason;
import io.kvasir.simulator.replay.DurationSummary;
import io.kvasir.simulator.replay.RankResult;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReplaySettings;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Writes replay reports for people: what was replayed, one section per router with the upper bound
 * beside its result and a table of its ranks, and a comparison when there are several. ASCII only.
 *
 * <p>Not thread-safe.
 */
public final class TextReport {

  private static final int LINE_WIDTH = 96;
  private static final int FACT_WIDTH = 19;
  private static final int MOST_RANKS = 16;
  private static final int MOST_REASONS = 3;

  private final StringBuilder out = new StringBuilder();

  private TextReport() {}

  /**
   * Formats reports of one workload.
   *
   * @param reports at least one
   * @return lines, the last one ended
   */
  public static String of(List<ReplayReport> reports) {
    TextReport text = new TextReport();
    text.heading(reports.get(0));
    for (ReplayReport report : reports) {
      text.section(report);
    }
    if (reports.size() > 1) {
      text.comparison(reports.stream().map(ReplayReport::result).toList());
    }
    return text.out.toString();
  }

  private void heading(ReplayReport report) {
    ReplaySettings settings = report.result().settings();
    line("Replay of " + report.workload().name() + ", seed " + report.seed());
    wrapped(
        report.workload().parameters().entrySet().stream()
            .map(parameter -> words(parameter.getKey()) + " " + parameter.getValue())
            .toList());
    wrapped(
        List.of(
            count(settings.ranks()) + " ranks",
            "pools of " + count(settings.poolTokens()) + " tokens",
            "blocks of " + settings.tokensPerBlock(),
            "token budget " + count(settings.executor().tokenBudget()),
            "at most " + settings.executor().maxActiveRequests() + " requests a rank",
            settings.executor().capacityPolicy().id(),
            settings.queuePolicy().id()));
    line("Times are modelled, not measured.");
  }

  private void section(ReplayReport report) {
    ReplayResult result = report.result();
    String title = "-- " + result.settings().router().id() + " ";
    line("");
    line(title + "-".repeat(Math.max(0, LINE_WIDTH - title.length())));
    summary(report);
    line("");
    new TextTable()
        .row("modelled ms", "mean", "p50", "p90", "p95", "p99", "max")
        .row(durations("first token", result.ttft()))
        .row(durations("next token", result.itl()))
        .row(durations("in queue", result.queue()))
        .appendTo(out);
    line("");
    ranks(result).appendTo(out);
    if (result.ranks().size() > MOST_RANKS) {
      line("  (--format json lists all " + result.ranks().size() + " ranks)");
    }
  }

  private void summary(ReplayReport report) {
    ReplayResult result = report.result();
    fact(
        "requests",
        "%s completed, %s rejected, %s preemptions"
            .formatted(
                count(result.completed()),
                count(result.rejected()),
                count(result.sum(RankResult::preemptions))));
    result.rejections().stream()
        .limit(MOST_REASONS)
        .forEach(
            rejection ->
                fact("  rejected", "request " + rejection.requestId() + ": " + rejection.reason()));
    fact(
        "token hit rate",
        rate(result.tokenHitRate())
            + "  "
            + HitRateBar.of(result)
            + "  upper bound "
            + rate(result.upperBoundTokenHitRate()));
    report
        .traceBlockUpperBound()
        .ifPresent(bound -> fact("trace's own bound", rate(bound) + " of the ids as listed"));
    fact(
        "prompts",
        count(result.inputTokens())
            + " tokens, "
            + count(result.cachedTokens())
            + " of them from cache");
    fact(
        "answers",
        "%s tokens in %s s, %s tokens/s"
            .formatted(
                count(result.outputTokens()),
                decimals(result.virtualSeconds(), 1),
                decimals(result.outputTokensPerSecond(), 1)));
    fact("placed by", decisions(result.decisions()));
    fact(
        "balance",
        "requests per rank: CV %s, max/min %s, min/mean %s"
            .formatted(
                rate(result.routedCv()),
                decimals(result.routedMaxOverMin(), 2),
                decimals(result.routedMinOverMean(), 2)));
  }

  private void fact(String name, String value) {
    line("  " + name + " ".repeat(FACT_WIDTH - name.length()) + value);
  }

  private static String decisions(Map<Reason, Long> decisions) {
    return decisions.entrySet().stream()
        .map(decision -> decision.getKey().id() + " " + count(decision.getValue()))
        .collect(Collectors.joining(", "));
  }

  private static String[] durations(String name, DurationSummary of) {
    return new String[] {
      name,
      measure(of.meanMs()),
      measure(of.p50Ms()),
      measure(of.p90Ms()),
      measure(of.p95Ms()),
      measure(of.p99Ms()),
      measure(of.maxMs())
    };
  }

  private static TextTable ranks(ReplayResult result) {
    TextTable table =
        new TextTable()
            .row(
                "rank",
                "requests",
                "prompt tokens",
                "from cache",
                "hit rate",
                "busy",
                "pool peak",
                "evicted blocks");
    int shown = Math.min(MOST_RANKS, result.ranks().size());
    for (int rank = 0; rank < shown; rank++) {
      RankResult of = result.ranks().get(rank);
      table.row(
          Integer.toString(rank),
          count(of.requests()),
          count(of.inputTokens()),
          count(of.cachedTokens()),
          rate(of.tokenHitRate()),
          percent((double) of.busyNs() / result.virtualNs()),
          percent((double) of.peakActiveBlocks() / of.capacityBlocks()),
          count(of.evictedBlocks()));
    }
    return table.row(
        "all",
        count(result.sum(RankResult::requests)),
        count(result.inputTokens()),
        count(result.cachedTokens()),
        rate(result.tokenHitRate()),
        percent(
            (double) result.sum(RankResult::busyNs) / result.virtualNs() / result.ranks().size()),
        "",
        count(result.sum(RankResult::evictedBlocks)));
  }

  private void comparison(List<ReplayResult> results) {
    line("");
    line("-- comparison " + "-".repeat(LINE_WIDTH - 14));
    new Comparison(results)
        .row("router", result -> result.settings().router().id())
        .figure("token hit rate", 4, ReplayResult::tokenHitRate)
        .figure("first token, mean ms", 1, result -> result.ttft().meanMs())
        .figure("first token, p99 ms", 1, result -> result.ttft().p99Ms())
        .figure("next token, mean ms", 1, result -> result.itl().meanMs())
        .figure("in queue, mean ms", 1, result -> result.queue().meanMs())
        .figure("output tokens/s", 1, ReplayResult::outputTokensPerSecond)
        .figure("routed CV", 4, ReplayResult::routedCv)
        .table()
        .appendTo(out);
  }

  private void wrapped(List<String> phrases) {
    StringBuilder current = new StringBuilder();
    for (String phrase : phrases) {
      if (current.length() + phrase.length() + 2 > LINE_WIDTH) {
        line(current + ",");
        current.setLength(0);
      }
      current.append(current.length() == 0 ? "" : ", ").append(phrase);
    }
    if (current.length() > 0) {
      line(current.toString());
    }
  }

  private void line(String text) {
    out.append(text).append('\n');
  }

  /** {@code outputTokens} as {@code output tokens}. */
  private static String words(String camelCase) {
    return camelCase.replaceAll("([A-Z])", " $1").toLowerCase(Locale.ROOT);
  }
}
