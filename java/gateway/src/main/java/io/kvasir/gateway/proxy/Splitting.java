package io.kvasir.gateway.proxy;

import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Which requests two workers can serve. Stateless. */
final class Splitting {

  /** Those whose bodies have the fields of a transfer at their top. */
  private static final Set<Endpoint> ENDPOINTS =
      EnumSet.of(
          Endpoint.COMPLETIONS,
          Endpoint.CHAT_COMPLETIONS,
          Endpoint.MESSAGES,
          Endpoint.RESPONSES,
          Endpoint.GENERATE);

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
        || !ENDPOINTS.contains(inbound.endpoint())) {
      return null;
    }
    boolean single = body.n() == 1 && body.hasOnePrompt();
    return single || !decodesWhole(decodes)
        ? services.fleets().prefillFleet(inbound.model())
        : null;
  }

  /** Whether the decode workers can compute prompts. */
  static boolean decodesWhole(ModelFleet decodes) {
    for (FleetWorker worker : decodes.workers()) {
      if (!worker.servesWhole()) {
        return false;
      }
    }
    return true;
  }
}
