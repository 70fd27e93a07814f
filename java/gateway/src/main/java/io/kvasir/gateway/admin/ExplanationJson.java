package io.kvasir.gateway.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.fleet.index.RankMatches;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FirstTokenForecast;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.gateway.events.RankReport;
import io.kvasir.gateway.proxy.Preview;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.FollowedRanks;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleet.Target;
import io.kvasir.gateway.tokens.PromptTokens;
import io.kvasir.hash.BlockHashes;
import io.kvasir.hash.HashFormat;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes where a request would go and why. Stateless. */
final class ExplanationJson {

  private static final JsonFactory JSON = new JsonFactory();

  /** Token ids that are shown. */
  private static final int MAX_IDS = 4_096;

  private ExplanationJson() {}

  /**
   * The explanation.
   *
   * @param whole the choice of a worker that serves the whole request
   * @param apart the choices of a prefill and a decode worker; empty if no workers have roles
   * @param local why the decode worker computes the prompt; null if it does not
   */
  static String of(
      String model,
      PromptTokens tokens,
      Preview.Choice whole,
      List<Preview.Choice> apart,
      @Nullable String local) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      json.writeStartObject();
      json.writeStringField("model", model);
      if (whole.request().conversationId() != null) {
        json.writeStringField("conversation_id", whole.request().conversationId());
      }
      write(json, tokens);
      if (apart.isEmpty()) {
        write(json, whole);
      } else {
        json.writeStringField("road", local == null ? "apart" : "whole");
        if (local != null) {
          json.writeStringField("road_reason", local);
        }
        write(json, "prefill", apart.get(0));
        write(json, "decode", apart.get(1));
        write(json, "whole", whole);
      }
      json.writeEndObject();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return text.toString();
  }

  private static void write(JsonGenerator json, String leg, Preview.Choice choice)
      throws IOException {
    json.writeObjectFieldStart(leg);
    write(json, choice);
    json.writeEndObject();
  }

  private static void write(JsonGenerator json, Preview.Choice choice) throws IOException {
    ModelFleet fleet = choice.fleet();
    json.writeStringField("router", fleet.router().name());
    json.writeNumberField("block_size", fleet.tokensPerBlock());
    BlockHashes hashes = choice.request().hashes(HashFormat.KVASIR, fleet.tokensPerBlock());
    json.writeNumberField("blocks", hashes.blocks());
    write(json, fleet, hashes, choice.outcome());
    write(json, fleet, choice.outcome());
  }

  private static void write(JsonGenerator json, PromptTokens tokens) throws IOException {
    json.writeObjectFieldStart("tokens");
    json.writeNumberField("count", tokens.count());
    List<int[]> ids = tokens.ids();
    json.writeBooleanField("estimated", ids == null);
    if (ids != null && ids.size() == 1) {
      json.writeFieldName("ids");
      json.writeArray(ids.get(0), 0, Math.min(MAX_IDS, ids.get(0).length));
    }
    json.writeEndObject();
  }

  private static void write(
      JsonGenerator json, ModelFleet fleet, BlockHashes hashes, @Nullable RouteOutcome outcome)
      throws IOException {
    FollowedRanks followed = fleet.followed();
    RankMatches matches = new RankMatches();
    if (followed != null) {
      followed.index().match(hashes.sequence(), hashes.blocks(), matches);
    }
    Map<RankId, CandidateCost> costs = new HashMap<>();
    if (outcome instanceof RouteOutcome.Placed placed) {
      placed.placement().candidates().forEach(cost -> costs.put(cost.rank(), cost));
    }
    json.writeArrayFieldStart("ranks");
    for (FleetWorker worker : fleet.workers()) {
      for (int rank = 0; rank < worker.routedRanks(); rank++) {
        json.writeStartObject();
        json.writeStringField("worker_id", worker.name());
        json.writeNumberField("dp_rank", rank);
        RankReport report = followed == null ? null : followed.report(worker, rank);
        if (report != null) {
          json.writeStringField("state", report.feed().state().id());
        }
        int blocks = matches.blocks(new RankId(worker.id(), rank));
        json.writeNumberField("matched_tokens", (long) blocks * fleet.tokensPerBlock());
        CandidateCost cost = costs.get(fleet.rankId(worker, rank));
        if (outcome != null) {
          json.writeBooleanField("eligible", cost != null);
        }
        if (cost != null) {
          write(json, cost);
        }
        json.writeEndObject();
      }
    }
    json.writeEndArray();
  }

  private static void write(JsonGenerator json, CandidateCost cost) throws IOException {
    json.writeNumberField("predicted_matched_blocks", cost.matchedBlocks());
    json.writeNumberField("active_prefill_tokens", cost.activePrefillTokens());
    json.writeNumberField("active_blocks", cost.activeBlocks());
    json.writeNumberField("new_blocks", cost.newBlocks());
    json.writeNumberField("active_requests", cost.activeRequests());
    json.writeNumberField("cost", cost.cost());
    json.writeObjectFieldStart("cost_terms");
    for (Map.Entry<String, Double> term : cost.terms().entrySet()) {
      json.writeNumberField(term.getKey(), term.getValue());
    }
    json.writeEndObject();
    FirstTokenForecast firstToken = cost.firstToken();
    if (firstToken != null) {
      json.writeObjectFieldStart("first_token_ms");
      json.writeNumberField("expected", firstToken.expectedMs());
      json.writeNumberField("low", firstToken.lowMs());
      json.writeNumberField("high", firstToken.highMs());
      json.writeEndObject();
      json.writeNumberField("targets_likelihood", firstToken.likelihood());
    }
  }

  private static void write(JsonGenerator json, ModelFleet fleet, @Nullable RouteOutcome outcome)
      throws IOException {
    if (outcome instanceof RouteOutcome.Placed placed) {
      Placement placement = placed.placement();
      Target target = fleet.target(placement.rank());
      json.writeObjectFieldStart("choice");
      if (target != null) {
        json.writeStringField("worker_id", target.worker().name());
        json.writeNumberField("dp_rank", target.dpRank());
      }
      json.writeStringField("reason", placement.reason().id());
      json.writeNumberField("matched_tokens", placement.matchedTokens());
      json.writeEndObject();
    } else if (outcome instanceof RouteOutcome.Refused refused) {
      json.writeObjectFieldStart("refused");
      json.writeStringField("code", refused.refusal().id());
      json.writeStringField("message", refused.message());
      json.writeEndObject();
    } else {
      json.writeStringField(
          "note",
          "the choices of router "
              + fleet.router().name()
              + " depend on earlier ones and cannot be previewed");
    }
  }
}
