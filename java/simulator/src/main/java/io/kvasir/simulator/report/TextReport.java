package io.kvasir.simulator.report;

import static io.kvasir.simulator.report.Comparison.Better.HIGHER;
import static io.kvasir.simulator.report.Comparison.Better.LOWER;
import static io.kvasir.simulator.report.Numbers.count;
import static io.kvasir.simulator.report.Numbers.decimals;
import static io.kvasir.simulator.report.Numbers.measure;
import static io.kvasir.simulator.report.Numbers.rate;

import io.kvasir.engine.adp.AdpReason;
import io.kvasir.simulator.fleet.ApartResult;
import io.kvasir.simulator.fleet.FleetResult;
import io.kvasir.simulator.replay.DurationSummary;
import io.kvasir.simulator.replay.Objective;
import io.kvasir.simulator.replay.RankResult;
import io.kvasir.simulator.replay.ReplayMode;
import io.kvasir.simulator.replay.ReplayResult;
import io.kvasir.simulator.replay.ReplaySettings;
import io.kvasir.simulator.replay.Spread;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Writes replay reports for people: the workload, a comparison if there are several reports, and
 * one section per router with its result, the upper bound and tables of its workers and ranks.
 * ASCII only.
 *
 * <p>Not thread-safe.
 */
public final class TextReport {

  private static final int LINE_WIDTH = 96;
  private static final double BYTES_PER_GB = 1e9;
  private static final int FACT_WIDTH = 19;
  private static final int MAX_RANKS = 16;
  private static final int MAX_REASONS = 3;
  private static final double PERCENT = 100;
  private static final double NS_PER_MS = 1e6;

  private final StringBuilder out = new StringBuilder();

  private TextReport() {}

  /**
   * Formats reports of one workload.
   *
   * @param reports at least one
   * @return lines, each ending in a line break
   */
  public static String of(List<ReplayReport> reports) {
    TextReport text = new TextReport();
    List<ReplayResult> results = reports.stream().map(ReplayReport::result).toList();
    Policies policies = new Policies(results);
    text.heading(reports.get(0), policies);
    text.rejections(results, policies);
    if (reports.size() > 1) {
      text.comparison(results, policies);
    }
    for (ReplayReport report : reports) {
      text.section(report, policies);
    }
    return text.out.toString();
  }

  private void heading(ReplayReport report, Policies policies) {
    ReplaySettings settings = report.result().settings();
    line("Replay of " + report.workload().name() + ", seed " + report.seed());
    wrapped(
        report.workload().parameters().entrySet().stream()
            .map(parameter -> words(parameter.getKey()) + " " + parameter.getValue())
            .toList());
    wrapped(
        List.of(
            policies.ranks(),
            "pools of " + count(settings.pool().tokens()) + " tokens",
            "blocks of " + settings.pool().tokensPerBlock(),
            "token budget " + count(settings.executor().tokenBudget()),
            "at most " + settings.executor().maxActiveRequests() + " requests a rank",
            settings.executor().capacityPolicy().id(),
            settings.routing().queuePolicy().id()));
    if (settings.mode() instanceof ReplayMode.Context context) {
      wrapped(
          List.of(
              "context ranks",
              "KV sent at " + measure(context.transfer().bytesPerSecond() / BYTES_PER_GB) + " GB/s",
              "answered elsewhere at " + measure(context.generationMsPerToken()) + " ms a token"));
    }
    if (settings.mode() instanceof ReplayMode.Apart apart) {
      wrapped(
          List.of(
              "prefill and decode apart",
              "KV sent at " + measure(apart.transfer().bytesPerSecond() / BYTES_PER_GB) + " GB/s",
              "after 1 ms"));
    }
    line("Latencies are modelled, not measured on a GPU.");
    wrapped(List.of(("Step times: " + StepTimes.of(settings)).split(", ")));
    String unexpected = Unexpected.of(report.result());
    if (!unexpected.isEmpty()) {
      line(unexpected);
    }
    line("Command: " + report.basis().command());
    line("Kvasir " + report.basis().build());
  }

  /** Says first where figures leave out many requests. */
  private void rejections(List<ReplayResult> results, Policies policies) {
    for (ReplayResult result : results) {
      String rejected = Rejected.of(result);
      if (rejected != null) {
        line("");
        line("!! " + policies.name(result) + ": " + rejected);
      }
    }
  }

  private void section(ReplayReport report, Policies policies) {
    ReplayResult result = report.result();
    String title = "-- " + policies.name(result) + " ";
    line("");
    line(title + "-".repeat(Math.max(0, LINE_WIDTH - title.length())));
    summary(result);
    line("");
    new TextTable()
        .row("modelled ms", "mean", "p50", "p90", "p95", "p99", "max")
        .row(durations("first token", result.ttft()))
        .row(durations("next token", result.itl()))
        .row(durations("in queue", result.queue()))
        .appendTo(out);
    line("");
    if (result.fleet() != null) {
      RankTable.ofWorkers(result).appendTo(out);
      line("");
      if (result.apart() != null) {
        Legs.table(result).appendTo(out);
        line("");
      }
      if (!result.fleet().whatIf().isEmpty()) {
        WhatIf.table(result.fleet()).appendTo(out);
        line("");
      }
    }
    RankTable.ofRanks(result, MAX_RANKS).appendTo(out);
    if (result.ranks().size() > MAX_RANKS) {
      line("  (--format json lists all " + result.ranks().size() + " ranks)");
    }
  }

  private void summary(ReplayResult result) {
    served(result);
    placed(result);
    long idle = result.ranks().stream().filter(rank -> rank.requests() == 0).count();
    if (idle > 0) {
      fact("", count(idle) + " of " + count(result.ranks().size()) + " ranks got no request");
    }
    String jam = Jam.of(result);
    if (jam != null) {
      fact("jam", jam);
    }
  }

  /** What became of the requests. */
  private void served(ReplayResult result) {
    fact(
        "requests",
        "%s completed, %s rejected, %s preemptions"
            .formatted(
                count(result.completed()),
                count(result.rejected()),
                count(result.sum(RankResult::preemptions))));
    result.rejections().stream()
        .limit(MAX_REASONS)
        .forEach(
            rejection ->
                fact("  rejected", "request " + rejection.requestId() + ": " + rejection.reason()));
    String rates = rate(result.tokenHitRate()) + "  " + HitRateBar.of(result);
    fact("token hit rate", rates + "  upper bound " + rate(result.upperBoundTokenHitRate()));
    fact(
        "prompts",
        "%s tokens, %s of them from cache"
            .formatted(count(result.inputTokens()), count(result.cachedTokens())));
    fact(
        "answers",
        "%s tokens in %s s, %s tokens/s"
            .formatted(
                count(result.outputTokens()),
                decimals(result.virtualSeconds(), 1),
                decimals(result.outputTokensPerSecond(), 1)));
    Objective objective = result.settings().measures().objective();
    if (objective != null) {
      fact(
          "goodput",
          "%s requests/s, %s %% keep %s"
              .formatted(
                  decimals(result.goodput().orElse(Double.NaN), 2),
                  decimals(PERCENT * result.goodShare().orElse(Double.NaN), 1),
                  objective));
    }
  }

  /** Who placed the requests, and how evenly. */
  private void placed(ReplayResult result) {
    ApartResult apart = result.apart();
    FleetResult workers = result.fleet();
    if (apart != null) {
      Legs.facts(apart).forEach(this::fact);
      fact("decode by", fleet(apart.decode()));
    }
    if (workers != null) {
      fact(apart == null ? "workers by" : "prefill by", fleet(workers));
    }
    if (workers != null && apart == null) {
      fact("balance", "requests per worker: " + spread(result.routedPerWorker()));
    }
    fact("placed by", decisions(result.decisions(), AdpReason::id));
    if (apart == null) {
      fact("balance", "requests per rank: " + spread(result.routedPerRank()));
    } else {
      fact("balance", "prompts per prefill rank: " + spread(result.routedPerPrefillRank()));
      fact("", "requests per decode rank: " + spread(result.routedPerDecodeRank()));
    }
  }

  private void fact(String name, String value) {
    line("  " + name + " ".repeat(FACT_WIDTH - name.length()) + value);
  }

  private static String fleet(FleetResult fleet) {
    return fleet.settings().router().name()
        + ": "
        + decisions(fleet.decisions(), Function.identity())
        + (fleet.settings().router().followsBlocks()
            ? ", events after " + decimals(fleet.settings().eventDelayNs() / NS_PER_MS, 1) + " ms"
            : "");
  }

  private static <R> String decisions(Map<R, Long> decisions, Function<R, String> name) {
    return decisions.entrySet().stream()
        .map(decision -> name.apply(decision.getKey()) + " " + count(decision.getValue()))
        .collect(Collectors.joining(", "));
  }

  private static String spread(Spread spread) {
    return "CV %s, max/min %s, min/mean %s"
        .formatted(
            rate(spread.cv()), decimals(spread.maxOverMin(), 2), decimals(spread.minOverMean(), 2));
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

  private void comparison(List<ReplayResult> results, Policies policies) {
    line("");
    line("-- comparison " + "-".repeat(LINE_WIDTH - 14));
    Comparison comparison = new Comparison(results);
    comparison.row("router", policies::name);
    if (results.stream().anyMatch(result -> result.rejected() > 0)) {
      comparison.figure("rejected requests", 0, LOWER, ReplayResult::rejected);
    }
    comparison
        .figure("token hit rate", 4, HIGHER, ReplayResult::tokenHitRate)
        .figure("first token, mean ms", 1, LOWER, result -> result.ttft().meanMs())
        .figure("first token, p95 ms", 1, LOWER, TextReport::p95)
        .figure("first token, p99 ms", 1, LOWER, result -> result.ttft().p99Ms())
        .figure("next token, mean ms", 1, LOWER, result -> result.itl().meanMs())
        .figure("in queue, mean ms", 1, LOWER, result -> result.queue().meanMs())
        .figure("output tokens/s", 1, HIGHER, ReplayResult::outputTokensPerSecond);
    if (results.get(0).apart() == null) {
      comparison.figure("balance, CV", 4, LOWER, ReplayResult::routedCv);
    } else {
      comparison
          .figure("prefill balance, CV", 4, LOWER, result -> result.routedPerPrefillRank().cv())
          .figure("decode balance, CV", 4, LOWER, result -> result.routedPerDecodeRank().cv());
    }
    comparison.table().appendTo(out);
    line("  (" + comparison.legend(policies::name, "p95 to first token", 1, TextReport::p95) + ")");
  }

  private static double p95(ReplayResult result) {
    return result.ttft().p95Ms();
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

  /** Converts {@code outputTokens} to {@code output tokens}. */
  static String words(String camelCase) {
    return camelCase.replaceAll("([A-Z])", " $1").toLowerCase(Locale.ROOT);
  }
}
