package io.kvasir.gateway.admin;

import io.kvasir.fleet.index.StreamStats;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.whatif.WhatIfCounts;
import io.kvasir.fleet.router.whatif.WhatIfRouter;
import io.kvasir.fleet.wire.SkipCause;
import io.kvasir.gateway.events.FeedState;
import io.kvasir.gateway.events.FleetSteps;
import io.kvasir.gateway.events.RankReport;
import io.kvasir.gateway.route.EndpointTokens;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.gateway.route.RoutingExactness;
import io.kvasir.gateway.tokens.OwnTokens;
import io.kvasir.gateway.tokens.TokenParity;
import io.kvasir.gateway.tokens.TokenQuestions;
import io.kvasir.gateway.verify.BlockParity;
import io.kvasir.gateway.verify.PrefixBreaks;
import io.kvasir.gateway.verify.Verdict;
import io.kvasir.gateway.verify.WorkerChecks;
import io.kvasir.gateway.worker.WorkerRole;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of ranks whose block events or steps are followed, in Prometheus' text format. They
 * are read when they are asked for, so that ranks may come and go. Stateless.
 */
final class FollowedMetrics {

  private static final double MS_PER_S = 1e3;

  /** A metric's lines by its name. */
  private final Map<String, Family> families = new LinkedHashMap<>();

  private record Family(String type, String help, List<String> lines) {}

  private FollowedMetrics() {}

  /**
   * Writes the metrics.
   *
   * @param fleets the workers by model
   * @param tokens finds the tokens of their prompts
   * @return lines; empty if nothing is known
   */
  static String text(ModelFleets fleets, TokenQuestions tokens) {
    FollowedMetrics metrics = new FollowedMetrics();
    fleets
        .promptFleets()
        .forEach(
            (model, fleet) -> {
              metrics.add(model, fleet);
              metrics.add(model, fleet.breaks());
              metrics.add(model, tokens.own(model));
            });
    fleets
        .fleets()
        .forEach(
            (model, fleet) -> {
              metrics.addFollowed(label("model", model), fleet);
              metrics.addShadows(label("model", model), fleet.router());
            });
    String role = "," + label("role", WorkerRole.PREFILL.id());
    fleets
        .prefillFleets()
        .forEach((model, fleet) -> metrics.addFollowed(label("model", model) + role, fleet));
    return metrics.text();
  }

  private void addFollowed(String labels, ModelFleet fleet) {
    FollowedRanks followed = fleet.followed();
    if (followed != null) {
      addStream(labels, followed.events().stats());
      fleet.workers().forEach(worker -> add(followed, worker));
    }
    FleetSteps steps = fleet.steps();
    if (steps != null) {
      fleet.workers().forEach(worker -> add(steps, fleet, worker));
    }
  }

  private void addShadows(String model, FleetRouter router) {
    if (!(router instanceof WhatIfRouter shadowed)) {
      return;
    }
    boolean serves = shadowed.countsActual(); // the first one
    for (WhatIfCounts each : shadowed.counts()) {
      String labels =
          model + "," + label("router", each.router()) + "," + label("serves", "" + serves);
      serves = false;
      counter(
          "shadow_placed_requests",
          "Requests that a fleet router has placed on virtual ranks.",
          labels,
          each.requests());
      counter(
          "shadow_unplaced_requests",
          "Requests that a fleet router would have refused or let wait.",
          labels,
          each.refused());
      counter(
          "shadow_prompt_tokens",
          "Prompt tokens of the requests that a fleet router has placed on virtual ranks.",
          labels,
          each.promptTokens());
      counter(
          "shadow_hit_tokens",
          "Of these, those that its virtual ranks held.",
          labels,
          each.hitTokens());
      add(
          "gauge",
          "kvasir_shadow_busiest_rank_share",
          "The share of its requests that the busiest virtual rank got.",
          labels,
          Double.toString(each.busiestShare()));
      addFirstToken(labels, "0.5", each.firstTokenP50Ms());
      addFirstToken(labels, "0.95", each.firstTokenP95Ms());
    }
  }

  private void addFirstToken(String labels, String quantile, double ms) {
    if (!Double.isNaN(ms)) {
      add(
          "gauge",
          "kvasir_shadow_time_to_first_token_seconds",
          "Modelled time to the first token of all requests that a fleet router has placed on virtual"
              + " ranks.",
          labels + "," + label("quantile", quantile),
          Double.toString(ms / MS_PER_S));
    }
  }

  private void add(String model, ModelFleet fleet) {
    for (EndpointTokens tokens : fleet.exactness().endpoints()) {
      String labels = label("model", model) + "," + label("endpoint", tokens.endpoint());
      RoutingExactness.State state = fleet.exactness(tokens);
      add(
          "gauge",
          "kvasir_routing_exactness",
          "How exactly requests are routed: 1 exact, 0.5 approximate, 0 by load only.",
          labels,
          Double.toString(state.exactness().value()));
      if (state.cause() != null) {
        gauge(
            "routing_inexact_cause",
            "Why requests are not routed exactly.",
            labels + "," + label("cause", state.cause().code()),
            1);
      }
      for (boolean known : new boolean[] {true, false}) {
        counter(
            "placed_prompts",
            "Requests that a router has placed, by whether their tokens were known.",
            labels + "," + label("tokens", known ? "known" : "estimated"),
            known ? tokens.known() : tokens.missing());
      }
    }
  }

  private void add(String model, @Nullable OwnTokens own) {
    if (own == null) {
      return;
    }
    for (TokenParity parity : own.parities()) {
      String labels = label("model", model) + "," + label("path", parity.path());
      counter(
          "own_tokens_equal",
          "Requests whose tokens were made here too, and were equal.",
          labels,
          parity.equalRequests());
      counter(
          "own_tokens_different",
          "Requests whose tokens were made here too, and were others.",
          labels,
          parity.differentRequests());
      gauge(
          "own_tokens_refused",
          "Whether the engine alone is asked, because tokens differed.",
          labels,
          parity.refused() ? 1 : 0);
    }
  }

  private void add(String model, PrefixBreaks breaks) {
    String labels = label("model", model);
    counter(
        "prefix_breaks",
        "Prompts that differ early from one before and go on as it does.",
        labels,
        breaks.broken());
    counter(
        "prefix_break_tokens",
        "Tokens behind the difference that the other prompt had.",
        labels,
        breaks.lostTokens());
    PrefixBreaks.Finding finding = breaks.finding();
    if (finding != null) {
      gauge(
          "prefix_break_position",
          "The token at which many of the last prompts differ.",
          labels,
          finding.token());
    }
  }

  private void addStream(String labels, StreamStats stats) {
    counter("kv_events_gaps", "Gaps in the numbers of batches.", labels, stats.gaps());
    counter("kv_events_recoveries", "Gaps that were closed.", labels, stats.recoveries());
    counter(
        "kv_events_unknown_parents",
        "Stored events whose parent the rank did not hold.",
        labels,
        stats.unknownParents());
  }

  private void add(FollowedRanks followed, FleetWorker worker) {
    WorkerChecks checks = followed.checks(worker);
    if (checks == null) {
      return;
    }
    String ofWorker = label("worker_id", worker.name());
    evidence("steering", ofWorker, checks.steering());
    evidence("token_parity", ofWorker, checks.tokens());
    for (int rank = 0; rank < worker.profile().ranks(); rank++) {
      RankReport report = followed.report(worker, rank);
      if (report != null) {
        String labels = ofWorker + "," + label("dp_rank", Integer.toString(rank));
        add(labels, report);
        add(labels, checks.hits(rank));
        add(labels, checks.parity(rank));
      }
    }
  }

  private void add(FleetSteps steps, ModelFleet fleet, FleetWorker worker) {
    for (int rank = 0; rank < worker.routedRanks(); rank++) {
      FleetSteps.Counts counts = steps.counts(fleet.rankId(worker, rank));
      if (counts != null) {
        String labels =
            label("worker_id", worker.name()) + "," + label("dp_rank", Integer.toString(rank));
        counter("forward_passes", "Steps that the rank has reported.", labels, counts.steps());
        counter(
            "forward_passes_skipped",
            "Messages about steps that could not be used.",
            labels,
            counts.skipped());
      }
    }
  }

  private void evidence(String name, String labels, WorkerChecks.Finding finding) {
    gauge(
        name + "_contradicted",
        "Whether the worker is placed by load alone because of the evidence.",
        labels,
        finding.verdict() == Verdict.CONTRADICTED ? 1 : 0);
    gauge(name + "_agreements", "Recent evidence for it.", labels, finding.agreements());
    gauge(
        name + "_contradictions", "Recent evidence against it.", labels, finding.contradictions());
  }

  private void add(String labels, RankReport report) {
    gauge(
        "kv_events_complete",
        "Whether all batches of the rank have arrived.",
        labels,
        report.feed().state() == FeedState.LIVE ? 1 : 0);
    gauge("kv_events_untrusted", "Whether events were lost.", labels, report.untrusted() ? 1 : 0);
    gauge("kv_blocks", "Blocks of the rank in the index.", labels, report.blocks());
    counter("kv_events_batches", "Batches received.", labels, report.feed().batches());
    counter(
        "kv_events_replayed_batches",
        "Of these, by replay.",
        labels,
        report.feed().replayedBatches());
    counter("kv_events_restarts", "Restarts of the engine seen.", labels, report.feed().restarts());
    counter(
        "kv_events_invalid_messages",
        "Messages that were no batches.",
        labels,
        report.feed().invalidMessages());
    counter(
        "kv_events_dropped_connections",
        "Connections that ended because the publisher exceeded a bound or broke the protocol.",
        labels,
        report.feed().droppedConnections());
    for (SkipCause cause : SkipCause.values()) {
      counter(
          "kv_events_skipped",
          "Events that were not applied.",
          labels + "," + label("cause", cause.name().toLowerCase(Locale.ROOT)),
          report.skips().of(cause));
    }
  }

  private void add(String labels, WorkerChecks.Hits hits) {
    counter(
        "predicted_hit_tokens", "Prompt tokens expected in the cache.", labels, hits.predicted());
    counter("reported_hit_tokens", "Cached tokens by the engine's usage.", labels, hits.cached());
    counter("prediction_error_tokens", "Sum of the absolute differences.", labels, hits.error());
  }

  private void add(String labels, @Nullable BlockParity parity) {
    if (parity != null) {
      gauge(
          "index_parity_missing_blocks",
          "Blocks of the engine that the index lacked at the last comparison.",
          labels,
          parity.missing());
      gauge(
          "index_parity_extra_blocks",
          "Blocks of the index that the engine did not hold at the last comparison.",
          labels,
          parity.extra());
    }
  }

  private void counter(String name, String help, String labels, long value) {
    add("counter", "kvasir_" + name + "_total", help, labels, Long.toString(value));
  }

  private void gauge(String name, String help, String labels, long value) {
    add("gauge", "kvasir_" + name, help, labels, Long.toString(value));
  }

  private void add(String type, String name, String help, String labels, String value) {
    families
        .computeIfAbsent(name, any -> new Family(type, help, new ArrayList<>()))
        .lines()
        .add(name + "{" + labels + "} " + value);
  }

  private static String label(String name, String value) {
    return name
        + "=\""
        + value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n")
        + '"';
  }

  private String text() {
    StringBuilder text = new StringBuilder();
    families.forEach(
        (name, family) -> {
          text.append("# HELP ").append(name).append(' ').append(family.help()).append('\n');
          text.append("# TYPE ").append(name).append(' ').append(family.type()).append('\n');
          family.lines().forEach(line -> text.append(line).append('\n'));
        });
    return text.toString();
  }
}
