package io.kvasir.gateway.admin;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.kvasir.exchange.Exchange;
import io.kvasir.gateway.observe.RecordedDecision;
import io.kvasir.gateway.observe.RecordedDecisions;
import io.kvasir.gateway.proxy.Problem;
import io.kvasir.gateway.proxy.Replies;
import io.kvasir.model.Errors;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Lists the last choices of workers and ranks, newest first: {@code GET /kvasir/decisions}. Fields
 * are named as in the access log; what is not known is left out.
 *
 * <p>Thread-safe.
 */
final class DecisionsHandler implements Consumer<Exchange> {

  private static final JsonFactory JSON = new JsonFactory();
  private static final String REQUEST_ID = "request-id";
  private static final String LIMIT = "limit";
  private static final double THOUSANDTHS = 1e3;

  private final RecordedDecisions decisions;

  /**
   * Creates a handler.
   *
   * @param decisions the last decisions
   */
  DecisionsHandler(RecordedDecisions decisions) {
    this.decisions = decisions;
  }

  @Override
  public void accept(Exchange exchange) {
    String id;
    int limit;
    try {
      AdminQuery query = AdminQuery.of(exchange.target(), List.of(REQUEST_ID, LIMIT));
      id = query.text(REQUEST_ID);
      limit = query.number(LIMIT, RecordedDecisions.KEPT, RecordedDecisions.KEPT);
    } catch (AdminQuery.WrongParameterException e) {
      AdminBody.problem(exchange, Problem.invalid(e.parameter(), Errors.reason(e)));
      return;
    }
    List<RecordedDecision> found =
        decisions.newest(each -> id == null || id.equals(each.choice().requestId()), limit);
    StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      json.writeStartArray();
      for (RecordedDecision decision : found) {
        json.writeStartObject();
        write(json, decision);
        json.writeEndObject();
      }
      json.writeEndArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Replies.json(exchange, 200, text.toString());
  }

  private static void write(JsonGenerator json, RecordedDecision decision) throws IOException {
    RecordedDecision.Choice choice = decision.choice();
    int rank = decision.dpRank();
    json.writeStringField("time", Instant.ofEpochMilli(decision.atMs()).toString());
    json.writeStringField("request_id", choice.requestId());
    json.writeStringField("endpoint", choice.endpoint());
    json.writeStringField("model", choice.model());
    json.writeStringField("leg", choice.leg());
    json.writeNumberField("attempt", choice.attempt());
    json.writeBooleanField("stream", choice.streams());
    json.writeStringField("worker_id", choice.workerId());
    json.writeStringField("dp_rank", rank < 0 ? "any" : Integer.toString(rank));
    json.writeStringField("reason", choice.reason());
    json.writeNumberField("matched_tokens", choice.matchedTokens());
    long prompt = decision.promptTokens();
    if (prompt >= 0) {
      json.writeNumberField("prompt_tokens", prompt);
    }
    if (choice.candidates() > 0) {
      json.writeNumberField("candidates", choice.candidates());
      write(json, "queued_ms", choice.waitedMs());
    }
    write(json, "expected_first_token_ms", choice.expectedFirstTokenMs());
    write(json, "first_token_ms", decision.firstTokenMs());
    long cached = decision.cachedTokens();
    if (cached >= 0) {
      json.writeNumberField("cached_tokens", cached);
    }
    if (!choice.terms().isEmpty()) {
      json.writeObjectFieldStart("cost_terms");
      for (Map.Entry<String, Double> term : choice.terms().entrySet()) {
        write(json, term.getKey(), term.getValue());
      }
      json.writeEndObject();
    }
    if (decision.status() != 0) {
      json.writeNumberField("status", decision.status());
    }
    if (!decision.failure().isEmpty()) {
      json.writeStringField("failure", decision.failure());
    }
  }

  private static void write(JsonGenerator json, String name, double value) throws IOException {
    if (Double.isFinite(value)) {
      json.writeNumberField(name, Math.round(value * THOUSANDTHS) / THOUSANDTHS);
    }
  }
}
