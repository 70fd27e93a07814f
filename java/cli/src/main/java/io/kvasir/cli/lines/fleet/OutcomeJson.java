package io.kvasir.cli.lines.fleet;

import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.fleet.router.CandidateCost;
import io.kvasir.fleet.router.FirstTokenForecast;
import io.kvasir.fleet.router.Placement;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.model.RankId;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Map;

/** Writes ranks, and where requests go and why. Stateless. */
public final class OutcomeJson {

  private static final long NS_PER_MS = 1_000_000;

  private OutcomeJson() {}

  /**
   * Writes the fields {@code worker} and {@code dpRank}; the second only for one rank.
   *
   * @param rank the rank, or any rank of a worker
   * @param out receives the fields
   * @throws IOException if the output fails
   */
  public static void writeRank(RankId rank, JsonGenerator out) throws IOException {
    out.writeFieldName("worker");
    out.writeNumber(new BigInteger(Long.toUnsignedString(rank.workerId())));
    if (!rank.isAny()) {
      out.writeNumberField("dpRank", rank.dpRank());
    }
  }

  /** Writes the fields of an outcome. */
  static void write(RouteOutcome outcome, JsonGenerator out) throws IOException {
    if (outcome instanceof RouteOutcome.Placed placed) {
      write(placed.placement(), out);
    } else if (outcome instanceof RouteOutcome.Refused refused) {
      out.writeStringField("refused", refused.refusal().id());
      out.writeStringField("message", refused.message());
    } else {
      out.writeBooleanField("waiting", true);
    }
  }

  private static void write(Placement placement, JsonGenerator out) throws IOException {
    writeRank(placement.rank(), out);
    out.writeNumberField("attempt", placement.attempt());
    out.writeNumberField("matchedBlocks", placement.matchedBlocks());
    out.writeStringField("reason", placement.reason().id());
    out.writeNumberField("waitedMs", placement.waitedNs() / NS_PER_MS);
    if (placement.conversationId() != null) {
      out.writeStringField("conversationId", placement.conversationId());
      out.writeBooleanField("firstTurn", placement.firstTurn());
    }
    if (placement.candidates().isEmpty()) {
      return;
    }
    out.writeArrayFieldStart("costs");
    for (CandidateCost cost : placement.candidates()) {
      out.writeStartObject();
      write(cost, out);
      out.writeEndObject();
    }
    out.writeEndArray();
  }

  private static void write(CandidateCost cost, JsonGenerator out) throws IOException {
    writeRank(cost.rank(), out);
    out.writeNumberField("matchedBlocks", cost.matchedBlocks());
    out.writeNumberField("activePrefillTokens", cost.activePrefillTokens());
    out.writeNumberField("activeBlocks", cost.activeBlocks());
    out.writeNumberField("newBlocks", cost.newBlocks());
    out.writeNumberField("activeRequests", cost.activeRequests());
    out.writeNumberField("cost", cost.cost());
    out.writeObjectFieldStart("terms");
    for (Map.Entry<String, Double> term : cost.terms().entrySet()) {
      out.writeNumberField(term.getKey(), term.getValue());
    }
    out.writeEndObject();
    FirstTokenForecast firstToken = cost.firstToken();
    if (firstToken != null) {
      out.writeObjectFieldStart("firstTokenMs");
      out.writeNumberField("expected", firstToken.expectedMs());
      out.writeNumberField("low", firstToken.lowMs());
      out.writeNumberField("high", firstToken.highMs());
      out.writeEndObject();
      out.writeNumberField("targetsLikelihood", firstToken.likelihood());
    }
  }
}
