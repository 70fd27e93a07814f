package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.Exchange;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.ConversationId;
import io.kvasir.gateway.openai.InvalidBodyException;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.tokens.PromptTokens;
import io.kvasir.gateway.tokens.TokenRequest;
import io.kvasir.model.CacheScope;
import io.kvasir.model.Errors;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Says where a request would go, without sending it: {@code POST /kvasir/explain} with the body of
 * a request. The reply has the prompt's tokens, what each rank holds of them, the costs, and the
 * choice.
 *
 * <p>Thread-safe.
 */
public final class ExplainHandler implements Consumer<Exchange> {

  /** Ids that no request has: those of requests count up from 1. */
  private static final AtomicLong IDS = new AtomicLong(Long.MIN_VALUE);

  private final Services services;

  /**
   * Creates a handler.
   *
   * @param services what all requests share
   */
  public ExplainHandler(Services services) {
    this.services = services;
  }

  @Override
  public void accept(Exchange exchange) {
    AdminBody.readHeld(
        exchange,
        services,
        (body, hold) -> guard(exchange, hold, () -> explain(exchange, body, hold)));
  }

  /** A part of the way to an answer. */
  private interface Step {

    /** Whether the request is answered. */
    boolean run() throws InvalidBodyException;
  }

  /** Takes a step, and releases what the request holds once it is answered. */
  private static void guard(Exchange exchange, BodyHold hold, Step step) {
    boolean answered = true;
    try {
      answered = step.run();
    } catch (InvalidBodyException e) {
      AdminBody.problem(exchange, Problem.invalid(e.param(), e.reason()));
    } catch (BodyPrompt.NoRoom e) {
      AdminBody.problem(exchange, e.problem());
    } finally {
      if (answered) {
        hold.release();
      }
    }
  }

  private boolean explain(Exchange exchange, byte[] bytes, BodyHold hold)
      throws InvalidBodyException {
    BodyScan body = BodyScan.of(bytes, 0, bytes.length);
    String model = body.model() == null ? services.fleets().onlyModel() : body.model();
    ModelFleet fleet = model == null ? null : services.fleets().fleet(model);
    if (model == null || fleet == null) {
      throw new InvalidBodyException(
          "model", "model must be one of " + Errors.shown("" + services.fleets().models()));
    }
    Inbound inbound =
        new Inbound(
            "explain",
            endpoint(body),
            new RequestHead("POST", endpoint(body).path(), exchange.headers(), exchange.client()),
            body,
            hold,
            null,
            model,
            services.fleets().isAdapter(model),
            ConversationId.of(exchange.headers(), body),
            Urgency.of(exchange.headers()),
            true);
    return tokens(exchange, body, inbound, fleet, hold);
  }

  /** Asks for the tokens of the prompt; true if that cannot be done. */
  private boolean tokens(
      Exchange exchange, BodyScan body, Inbound inbound, ModelFleet fleet, BodyHold hold) {
    String model = inbound.model();
    long nowNs = services.nowNs();
    boolean panics = services.fleets().ejection().panics(fleet.workers(), model);
    FleetWorker any = null;
    for (FleetWorker worker : fleet.workers()) {
      if (any == null && worker.takes(panics, nowNs) && worker.models().contains(model)) {
        any = worker;
      }
    }
    if (any == null) {
      AdminBody.problem(exchange, Refusals.noWorker("no worker can take the request"));
      return true;
    }
    inbound.chargeTokens(body);
    services
        .tokens()
        .ask(
            any,
            exchange.loop(),
            new TokenRequest(inbound.endpoint().path(), model, body, inbound.prompt()),
            found -> guard(exchange, hold, () -> answer(exchange, inbound, fleet, found)));
    return false;
  }

  private static Endpoint endpoint(BodyScan body) {
    return body.isChat() ? Endpoint.CHAT_COMPLETIONS : Endpoint.COMPLETIONS;
  }

  private boolean answer(
      Exchange exchange, Inbound inbound, ModelFleet fleet, PromptTokens tokens) {
    boolean panics = services.fleets().ejection().panics(fleet.workers(), inbound.model());
    CacheScope scope = inbound.scope();
    FleetRequest request =
        FleetRequest.builder(IDS.incrementAndGet(), inbound.prompt())
            .conversationId(inbound.conversationId())
            .scope(scope)
            .filter(fleet.without(Set.of(), inbound.model(), panics, services.nowNs()))
            .targets(inbound.urgency().targets())
            .strictPriority(inbound.urgency().priority())
            .tokens(tokens.ids())
            .inputTokens(tokens.count())
            .build();
    RouteOutcome outcome = fleet.router().preview(request);
    Replies.json(
        exchange, 200, ExplanationJson.of(inbound.model(), fleet, request, tokens, outcome));
    return true;
  }
}
