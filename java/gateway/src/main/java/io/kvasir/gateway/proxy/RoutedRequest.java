package io.kvasir.gateway.proxy;

import io.kvasir.fleet.router.FleetRequest;
import io.kvasir.fleet.router.FleetRequestBuilder;
import io.kvasir.fleet.router.LatencyTargets;
import io.kvasir.fleet.router.RankFilter;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.tokens.PromptTokens;
import org.jspecify.annotations.Nullable;

/** A request as fleet routers see it. Stateless. */
final class RoutedRequest {

  private RoutedRequest() {}

  /**
   * Describes a request.
   *
   * @param id its number at routers
   * @param leg the part of it that is placed
   * @param filter the ranks that may serve it
   * @param targets the times that are left of those that the client asks for
   */
  static FleetRequest of(
      long id, Inbound inbound, Leg leg, RankFilter filter, LatencyTargets targets) {
    return of(id, inbound, leg, FleetRequest.NO_WORKER, filter, targets);
  }

  /**
   * Describes a request whose prompt may have been computed.
   *
   * @param prefilledBy the worker that has computed it; {@link FleetRequest#NO_WORKER} for none
   */
  static FleetRequest of(
      long id,
      Inbound inbound,
      Leg leg,
      long prefilledBy,
      RankFilter filter,
      LatencyTargets targets) {
    FleetRequestBuilder request =
        FleetRequest.builder(id, inbound.prompt())
            .conversationId(inbound.conversation().id())
            .subagentAffinityId(inbound.conversation().subagentAffinityId())
            .scope(inbound.scope())
            .filter(filter)
            .targets(targets)
            .strictPriority(inbound.urgency().priority())
            .prefilledBy(prefilledBy);
    leg.of(request, inbound.streams(), outputTokens(inbound.body()));
    PromptTokens tokens = inbound.tokens();
    if (tokens != null) {
      request.tokens(tokens.ids());
      request.inputTokens(tokens.count());
    }
    return request.build();
  }

  private static int outputTokens(@Nullable BodyScan body) {
    return body == null ? 0 : body.maxOutputTokens();
  }
}
