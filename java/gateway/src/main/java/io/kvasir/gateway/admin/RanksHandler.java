package io.kvasir.gateway.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.exchange.Exchange;
import io.kvasir.fleet.load.PredictedLoads;
import io.kvasir.fleet.router.HitCorrection;
import io.kvasir.fleet.wire.SkipCause;
import io.kvasir.gateway.events.FeedStatus;
import io.kvasir.gateway.events.FleetSteps;
import io.kvasir.gateway.events.RankReport;
import io.kvasir.gateway.proxy.Replies;
import io.kvasir.gateway.route.EndpointTokens;
import io.kvasir.gateway.route.Exactness;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.route.InexactCause;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.gateway.route.RoutingExactness;
import io.kvasir.gateway.tokens.OwnTokens;
import io.kvasir.gateway.tokens.TokenParity;
import io.kvasir.gateway.tokens.TokenQuestions;
import io.kvasir.gateway.verify.BlockParity;
import io.kvasir.gateway.verify.PrefixBreaks;
import io.kvasir.gateway.verify.TokenDifference;
import io.kvasir.gateway.verify.WorkerChecks;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Reports what is known of each worker and rank: {@code GET /kvasir/ranks}. Thread-safe. */
final class RanksHandler implements Consumer<Exchange> {

  private static final JsonFactory JSON = new JsonFactory();

  private final ModelFleets fleets;
  private final TokenQuestions tokens;

  /**
   * Creates a handler.
   *
   * @param fleets the workers by model
   * @param tokens finds the tokens of their prompts
   */
  RanksHandler(ModelFleets fleets, TokenQuestions tokens) {
    this.fleets = fleets;
    this.tokens = tokens;
  }

  @Override
  public void accept(Exchange exchange) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      json.writeStartArray();
      write(json, fleets.fleets());
      write(json, fleets.prefillFleets());
      json.writeEndArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Replies.json(exchange, 200, text.toString());
  }

  private void write(JsonGenerator json, Map<String, ModelFleet> all) throws IOException {
    for (Map.Entry<String, ModelFleet> fleet : all.entrySet()) {
      PredictedLoads loads = new PredictedLoads();
      fleet.getValue().loads(loads);
      for (FleetWorker worker : fleet.getValue().workers()) {
        write(json, fleet.getKey(), fleet.getValue(), worker, loads);
      }
    }
  }

  private void write(
      JsonGenerator json, String model, ModelFleet fleet, FleetWorker worker, PredictedLoads loads)
      throws IOException {
    FollowedRanks followed = fleet.followed();
    WorkerChecks checks = followed == null ? null : followed.checks(worker);
    json.writeStartObject();
    json.writeStringField("worker_id", worker.name());
    json.writeStringField("model", model);
    json.writeStringField("role", worker.role().id());
    json.writeStringField("flavor", worker.engine());
    if (worker.profile().version() != null) {
      json.writeStringField("version", worker.profile().version().toString());
    }
    json.writeStringField("router", fleet.router().name());
    json.writeNumberField("block_size", fleet.tokensPerBlock());
    if (worker.profile().kvBlocks() > 0) {
      json.writeNumberField("kv_blocks", worker.profile().kvBlocks());
    }
    json.writeBooleanField("healthy", worker.healthy());
    if (followed != null && checks != null) {
      write(json, "steering", checks.steering());
      write(json, "tokens", checks.tokens());
      TokenDifference difference = checks.difference();
      if (difference != null) {
        write(json, difference);
      }
      json.writeStringField("missing_usage_option", checks.missingUsageOption());
      write(json, fleet.router().correction(worker.id()));
    }
    InexactCause cause = fleet.inexact(worker);
    json.writeStringField("exactness", (cause == null ? Exactness.EXACT : cause.exactness()).id());
    if (cause != null) {
      json.writeStringField("exactness_cause", cause.code());
    }
    writeEndpoints(json, fleet);
    writeOwnTokens(json, tokens.own(model));
    json.writeArrayFieldStart("problems");
    for (String problem : fleet.problems(worker)) {
      json.writeString(problem);
    }
    json.writeEndArray();
    json.writeArrayFieldStart("ranks");
    for (int rank = 0; rank < worker.profile().ranks(); rank++) {
      json.writeStartObject();
      json.writeNumberField("dp_rank", rank);
      RankReport report = followed == null ? null : followed.report(worker, rank);
      if (report != null && checks != null) {
        write(json, report, worker.profile().partlyAnnounced());
        write(json, checks.hits(rank));
        write(json, checks.parity(rank));
      }
      FleetSteps.Counts steps =
          fleet.steps() == null ? null : fleet.steps().counts(fleet.rankId(worker, rank));
      if (steps != null) {
        json.writeNumberField("forward_passes", steps.steps());
        json.writeNumberField("forward_passes_skipped", steps.skipped());
      }
      int load = loads.indexOf(fleet.rankId(worker, rank));
      if (load >= 0) {
        json.writeObjectFieldStart("load");
        json.writeNumberField("active_requests", loads.activeRequests(load));
        json.writeNumberField("active_blocks", loads.activeBlocks(load));
        json.writeNumberField("active_prefill_tokens", loads.activePrefillTokens(load));
        json.writeEndObject();
      }
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, String name, WorkerChecks.Finding finding)
      throws IOException {
    json.writeObjectFieldStart(name);
    json.writeStringField("verdict", finding.verdict().id());
    json.writeNumberField("agreements", finding.agreements());
    json.writeNumberField("contradictions", finding.contradictions());
    json.writeStringField("text", finding.text());
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, HitCorrection correction) throws IOException {
    json.writeObjectFieldStart("hit_correction");
    json.writeNumberField("lost_blocks", correction.lostBlocks());
    json.writeNumberField("unit_blocks", correction.unitBlocks());
    json.writeNumberField("end_tokens", correction.endTokens());
    json.writeNumberField("smallest_blocks", correction.smallestBlocks());
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, TokenDifference difference) throws IOException {
    json.writeObjectFieldStart("first_difference");
    json.writeNumberField("position", difference.position());
    json.writeFieldName("expected");
    json.writeArray(difference.expected(), 0, difference.expected().length);
    json.writeFieldName("stored");
    json.writeArray(difference.stored(), 0, difference.stored().length);
    if (!difference.expectedText().isEmpty() || !difference.storedText().isEmpty()) {
      json.writeStringField("expected_text", difference.expectedText());
      json.writeStringField("stored_text", difference.storedText());
    }
    json.writeEndObject();
  }

  /** How the tokens that are made here compare with the engine's, by their endpoint. */
  private static void writeOwnTokens(JsonGenerator json, @Nullable OwnTokens own)
      throws IOException {
    if (own == null) {
      return;
    }
    json.writeArrayFieldStart("own_tokens");
    for (TokenParity parity : own.parities()) {
      json.writeStartObject();
      json.writeStringField("path", parity.path());
      json.writeNumberField("equal_requests", parity.equalRequests());
      json.writeNumberField("different_requests", parity.differentRequests());
      json.writeBooleanField("refused", parity.refused());
      if (parity.difference() != null) {
        json.writeStringField("differs_at", parity.difference());
      }
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  /** How exactly requests to the worker's model are routed, by their endpoint. */
  private static void writeEndpoints(JsonGenerator json, ModelFleet fleet) throws IOException {
    json.writeArrayFieldStart("endpoints");
    for (EndpointTokens tokens : fleet.exactness().endpoints()) {
      RoutingExactness.State state = fleet.exactness(tokens);
      json.writeStartObject();
      json.writeStringField("endpoint", tokens.endpoint());
      json.writeStringField("exactness", state.exactness().id());
      if (state.cause() != null) {
        json.writeStringField("cause", state.cause().code());
      }
      json.writeNumberField("prompts_with_tokens", tokens.known());
      json.writeNumberField("prompts_without", tokens.missing());
      json.writeEndObject();
    }
    json.writeEndArray();
    PrefixBreaks.Finding finding = fleet.breaks().finding();
    if (finding != null) {
      json.writeObjectFieldStart("prefix_break");
      json.writeNumberField("token", finding.token());
      json.writeNumberField("prompts", finding.prompts());
      json.writeNumberField("of", finding.of());
      json.writeEndObject();
    }
  }

  private static void write(JsonGenerator json, RankReport report, boolean partlyAnnounced)
      throws IOException {
    FeedStatus feed = report.feed();
    json.writeStringField("state", feed.state().id());
    json.writeNumberField("blocks", report.blocks());
    json.writeNumberField("copies", report.copies());
    json.writeStringField(
        "matches", report.upperBound() || partlyAnnounced ? "upper_bound" : "exact");
    json.writeBooleanField("untrusted", report.untrusted());
    json.writeNumberField("last_batch", feed.lastNumber());
    json.writeNumberField("batches", feed.batches());
    json.writeNumberField("gaps", report.gaps());
    json.writeNumberField("replays", feed.replays());
    json.writeNumberField("replayed_batches", feed.replayedBatches());
    json.writeNumberField("restarts", feed.restarts());
    json.writeNumberField("invalid_messages", feed.invalidMessages());
    json.writeNumberField("dropped_connections", feed.droppedConnections());
    json.writeObjectFieldStart("skipped_events");
    for (SkipCause cause : SkipCause.values()) {
      long count = report.skips().of(cause);
      if (count > 0) {
        json.writeNumberField(cause.name().toLowerCase(Locale.ROOT), count);
      }
    }
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, @Nullable BlockParity parity) throws IOException {
    if (parity != null) {
      json.writeObjectFieldStart("index_parity");
      json.writeNumberField("missing", parity.missing());
      json.writeNumberField("extra", parity.extra());
      json.writeEndObject();
    }
  }

  private static void write(JsonGenerator json, WorkerChecks.Hits hits) throws IOException {
    json.writeObjectFieldStart("predicted_hits");
    json.writeNumberField("requests", hits.requests());
    json.writeNumberField("predicted_tokens", hits.predicted());
    json.writeNumberField("cached_tokens", hits.cached());
    json.writeNumberField("error_tokens", hits.error());
    json.writeEndObject();
  }
}
