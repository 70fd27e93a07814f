package io.kvasir.gateway.proxy;

import io.kvasir.gateway.openai.BodyScan;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import java.util.EnumSet;
import java.util.Set;

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

  /** Whether a request has one prompt and one answer, or no worker can serve it alone. */
  static boolean applies(Inbound inbound, ModelFleet decodes) {
    BodyScan body = inbound.body();
    return body != null
        && ENDPOINTS.contains(inbound.endpoint())
        && (!decodesWhole(decodes) || (body.n() == 1 && body.hasOnePrompt()));
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
