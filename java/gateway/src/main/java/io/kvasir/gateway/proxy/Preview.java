package io.kvasir.gateway.proxy;

import io.kvasir.exchange.BodyHold;
import io.kvasir.exchange.Exchange;
import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.RouteOutcome;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.openai.InvalidBodyException;
import io.kvasir.gateway.openai.NamedConversation;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import io.kvasir.gateway.route.ModelFleet.Target;
import io.kvasir.gateway.tokens.PromptTokens;
import io.kvasir.model.Errors;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Where a request would go, found as for a real one but without sending or booking anything.
 *
 * <p>Confined to the exchange's event loop.
 */
public final class Preview {

  /** Ids that no request has: those of requests count up from 1. */
  private static final AtomicLong IDS = new AtomicLong(Long.MIN_VALUE);

  private final Exchange exchange;
  private final Services services;
  private final BodyHold hold;
  private final Receiver receiver;

  /** Receives the result of a preview. One of its methods is called, once, on the event loop. */
  public interface Receiver {

    /**
     * The choice is known.
     *
     * @param model the model
     * @param tokens the tokens of its prompt
     * @param whole the choice of a worker that serves the whole request
     * @param apart the choices of a prefill and a decode worker; empty if no workers have roles
     * @param local why the decode worker computes the prompt; null if it does not
     */
    void onPreview(
        String model,
        PromptTokens tokens,
        Choice whole,
        List<Choice> apart,
        @Nullable String local);

    /**
     * The request would be refused, or cannot be previewed.
     *
     * @param problem why
     */
    void onProblem(Problem problem);
  }

  /**
   * Where a request, or a leg of it, would go.
   *
   * @param fleet the workers
   * @param request the request as their router sees it
   * @param outcome the choice; null for a policy that cannot preview
   */
  public record Choice(ModelFleet fleet, FleetRequest request, @Nullable RouteOutcome outcome) {}

  private Preview(Exchange exchange, Services services, BodyHold hold, Receiver receiver) {
    this.exchange = exchange;
    this.services = services;
    this.hold = hold;
    this.receiver = receiver;
  }

  /**
   * Begins.
   *
   * @param exchange the request whose body describes the one to preview
   * @param body that body
   * @param hold what the request holds of the budget; released when the receiver was called
   * @param services what all requests share
   * @param receiver receives the choice
   */
  public static void of(
      Exchange exchange, byte[] body, BodyHold hold, Services services, Receiver receiver) {
    Preview preview = new Preview(exchange, services, hold, receiver);
    preview.guard(() -> preview.scan(body));
  }

  /** A part of the way to an answer. */
  private interface Step {

    /** Whether the request is answered. */
    boolean run() throws InvalidBodyException;
  }

  /** Takes a step, and releases what the request holds once it is answered. */
  private void guard(Step step) {
    boolean answered = true;
    try {
      answered = step.run();
    } catch (InvalidBodyException e) {
      receiver.onProblem(Problem.invalid(e.param(), e.reason()));
    } catch (BodyPrompt.NoRoom e) {
      receiver.onProblem(e.problem());
    } finally {
      if (answered) {
        hold.release();
      }
    }
  }

  private boolean scan(byte[] bytes) throws InvalidBodyException {
    BodyScan body = BodyScan.of(bytes, 0, bytes.length);
    String named = services.fleets().listed(body.model(), body.adapter());
    String model = named == null ? services.fleets().onlyModel() : named;
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
            HeldBody.scanned(body, hold),
            model,
            services.fleets().isAdapter(model),
            NamedConversation.of(exchange.headers(), body),
            Urgency.of(exchange.headers()),
            true);
    return tokens(body, inbound, fleet);
  }

  /** Asks for the tokens of the prompt; true if that cannot be done. */
  private boolean tokens(BodyScan body, Inbound inbound, ModelFleet fleet) {
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
      receiver.onProblem(Refusals.noWorker("no worker can take the request"));
      return true;
    }
    inbound.chargeTokens(body);
    services
        .tokens()
        .ask(
            any,
            exchange.loop(),
            inbound.asked(body, services.tokens().turns().upTo(body.previousResponseId())),
            found -> guard(() -> choose(inbound, fleet, found)));
    return false;
  }

  private static Endpoint endpoint(BodyScan body) {
    return body.isChat() ? Endpoint.CHAT_COMPLETIONS : Endpoint.COMPLETIONS;
  }

  private boolean choose(Inbound inbound, ModelFleet fleet, PromptTokens tokens) {
    inbound.tokens(tokens);
    Choice whole = choice(inbound, fleet, Leg.WHOLE, FleetRequest.NO_WORKER);
    ModelFleet prefills = Splitting.prefills(services, inbound, fleet);
    List<Choice> apart = List.of();
    String local = null;
    if (prefills != null) {
      Choice first = choice(inbound, prefills, Leg.PREFILL, FleetRequest.NO_WORKER);
      apart = List.of(first, choice(inbound, fleet, Leg.DECODE, worker(first)));
      local = local(inbound, prefills, fleet, first.request());
    }
    receiver.onPreview(inbound.model(), tokens, whole, apart, local);
    return true;
  }

  /** Why a worker that answers would compute the prompt; null if it would not. */
  private @Nullable String local(
      Inbound inbound, ModelFleet prefills, ModelFleet decodes, FleetRequest prompt) {
    CandidateWorkers answering = candidates(inbound, decodes);
    if (answering.isOnlyWhole()) {
      return LocalPrefill.NO_DECODE_WORKER;
    }
    if (!answering.hasOther(Leg.WHOLE)) {
      return null;
    }
    if (!candidates(inbound, prefills).hasOther(Leg.PREFILL)) {
      return LocalPrefill.NO_PREFILL_WORKER;
    }
    long most = services.transfers().settings().maxLocalPrefillTokens();
    return new LocalPrefill(inbound, prefills, decodes, answering, most).reason(prompt);
  }

  private CandidateWorkers candidates(Inbound inbound, ModelFleet fleet) {
    return new CandidateWorkers(inbound, fleet.workers(), null, services);
  }

  /** The worker that would be chosen. */
  private static long worker(Choice choice) {
    Target target =
        choice.outcome() instanceof RouteOutcome.Placed placed
            ? choice.fleet().target(placed.placement().rank())
            : null;
    return target == null ? FleetRequest.NO_WORKER : target.worker().id();
  }

  private Choice choice(Inbound inbound, ModelFleet fleet, Leg leg, long prefilledBy) {
    FleetRequest request =
        RoutedRequest.of(
            IDS.incrementAndGet(),
            inbound,
            leg,
            prefilledBy,
            candidates(inbound, fleet).filter(fleet, leg),
            inbound.urgency().targets());
    return new Choice(fleet, request, fleet.router().preview(request));
  }
}
