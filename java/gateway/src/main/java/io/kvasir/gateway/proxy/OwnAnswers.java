package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Exchange;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.model.Errors;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the gateway answers by itself: probes, models, and which models there are not. Stateless.
 */
final class OwnAnswers {

  private final ModelFleets fleets;
  private final BooleanSupplier ready;

  /**
   * Creates the answers.
   *
   * @param fleets the workers by model
   * @param ready whether balancers may send requests
   */
  OwnAnswers(ModelFleets fleets, BooleanSupplier ready) {
    this.fleets = fleets;
    this.ready = ready;
  }

  /** Answers a probe, which has no line in the access log. */
  void probe(Exchange exchange, Probe probe) {
    if (!isRead(exchange)) {
      Replies.problem(exchange, "none", Refusals.wrongMethod("GET"));
      return;
    }
    boolean good = probe == Probe.LIVE || ready.getAsBoolean();
    Replies.json(
        exchange, good ? 200 : 503, good ? "{\"status\":\"ok\"}" : "{\"status\":\"not ready\"}");
  }

  private static boolean isRead(Exchange exchange) {
    return exchange.method().equals("GET") || exchange.method().equals("HEAD");
  }

  /** {@return why models are not listed, or one is unknown; null if they were answered} */
  @Nullable Problem models(Exchange exchange, String path) {
    if (!isRead(exchange)) {
      return Refusals.wrongMethod("GET");
    }
    String name = ModelsJson.name(path);
    if (fleets.models().isEmpty() && fleets.silent() > 0) {
      return notStarted();
    }
    if (name != null && !fleets.models().contains(name)) {
      return unknownModel(name);
    }
    ModelsJson listed = new ModelsJson(fleets.workers());
    Replies.json(exchange, 200, name == null ? listed.list(fleets.models()) : listed.model(name));
    return null;
  }

  /** The reply about a model that no worker has named; a silent worker may serve it. */
  Problem unknownModel(String model) {
    if (fleets.silent() > 0) {
      return notStarted();
    }
    return Problem.notFound(
        "model_not_found",
        "model",
        "no worker serves the model '"
            + Errors.shown(model)
            + "'; known: "
            + Errors.shown(String.join(", ", fleets.models())));
  }

  /** The reply while no worker has named a model. */
  Problem notStarted() {
    return Refusals.noWorker(
        "no worker is known to serve the model; workers that have not answered yet: "
            + fleets.silent()
            + Refusals.reasons(fleets.workers()));
  }
}
