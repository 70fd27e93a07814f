package io.kvasir.gateway.proxy;

import io.kvasir.exchange.EngineFlavor;
import io.kvasir.fleet.router.legs.Leg;
import io.kvasir.gateway.disagg.TransferIds;
import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which requests two workers can serve. Stateless. */
final class Splitting {

  /** Those that an engine's own disaggregated server has, or whose bodies have its fields. */
  private static final Map<EngineFlavor, Set<Endpoint>> ENDPOINTS =
      Map.of(
          EngineFlavor.VLLM,
          EnumSet.of(
              Endpoint.COMPLETIONS,
              Endpoint.CHAT_COMPLETIONS,
              Endpoint.MESSAGES,
              Endpoint.RESPONSES),
          EngineFlavor.SGLANG,
          EnumSet.of(Endpoint.COMPLETIONS, Endpoint.CHAT_COMPLETIONS, Endpoint.GENERATE),
          EngineFlavor.TRTLLM,
          EnumSet.of(Endpoint.COMPLETIONS, Endpoint.CHAT_COMPLETIONS));

  /** SGLang's sampling parameters, which are not read, can ask for several answers. */
  private static final int OF_GENERATE = 256;

  private Splitting() {}

  /**
   * The workers that compute a request's prompt for others; null if there are none, or the request
   * has several prompts or answers and a worker can serve it alone.
   *
   * @param decodes the workers that answer; null for any model
   */
  static @Nullable ModelFleet prefills(
      Services services, Inbound inbound, @Nullable ModelFleet decodes) {
    BodyScan body = inbound.body();
    if (decodes == null
        || body == null
        || inbound.passesTransfer()
        || !isShared(inbound.endpoint(), decodes)) {
      return null;
    }
    boolean single = body.n() == 1 && body.prompt().count() == 1;
    if (!single && takesWhole(services, inbound, decodes)) {
      return null;
    }
    ModelFleet prefills = services.fleets().prefillFleet(inbound.model());
    return prefills == null || prefills.workers().isEmpty() ? null : prefills;
  }

  /** The number of a request's answers; each can need a number for its transfer. */
  static int transfers(Inbound inbound, BodyScan body) {
    int answers = (int) Math.min(TransferIds.MOST, (long) body.prompt().count() * body.n());
    return inbound.endpoint() == Endpoint.GENERATE ? Math.max(answers, OF_GENERATE) : answers;
  }

  private static boolean isShared(Endpoint endpoint, ModelFleet decodes) {
    for (FleetWorker worker : decodes.workers()) {
      return ENDPOINTS.getOrDefault(worker.flavor(), Set.of()).contains(endpoint);
    }
    return false;
  }

  /** Whether a request can be served neither by two workers nor by one of role decode. */
  static boolean isImpossible(Inbound inbound, ModelFleet decodes) {
    return inbound.endpoint().generates()
        && !inbound.passesTransfer()
        && !decodesWhole(decodes)
        && !isShared(inbound.endpoint(), decodes);
  }

  private static boolean takesWhole(Services services, Inbound inbound, ModelFleet decodes) {
    return new CandidateWorkers(inbound, decodes.workers(), null, services).hasOther(Leg.WHOLE);
  }

  /** Whether any of the workers that answer can compute prompts, or there are none. */
  static boolean decodesWhole(ModelFleet decodes) {
    for (FleetWorker worker : decodes.workers()) {
      if (worker.servesWhole()) {
        return true;
      }
    }
    return decodes.workers().isEmpty();
  }
}
