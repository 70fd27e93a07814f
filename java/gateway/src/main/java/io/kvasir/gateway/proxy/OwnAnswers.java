package io.kvasir.gateway.proxy;

import io.kvasir.exchange.Exchange;
import io.kvasir.gateway.keys.KeyUse;
import io.kvasir.gateway.route.ModelFleets;
import io.kvasir.model.Errors;
import java.util.Set;
import java.util.TreeSet;
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
  @Nullable Problem models(Exchange exchange, String path, @Nullable KeyUse key) {
    if (!isRead(exchange)) {
      return Refusals.wrongMethod("GET");
    }
    String name = ModelsJson.name(path);
    if (fleets.models().isEmpty() && fleets.silent() > 0) {
      return notStarted();
    }
    Set<String> models = models(key);
    if (name != null && !models.contains(name)) {
      return unknownModel(name, key);
    }
    ModelsJson listed = new ModelsJson(fleets.workers());
    Replies.json(exchange, 200, name == null ? listed.list(models) : listed.model(name));
    return null;
  }

  /** The models that a client may use, in alphabetical order. */
  private Set<String> models(@Nullable KeyUse key) {
    Set<String> models = new TreeSet<>(fleets.models());
    models.removeIf(model -> key != null && !key.key().limits().allows(model));
    return models;
  }

  /**
   * The reply about a model that no worker has named, or that a key may not use, which is the same;
   * a silent worker may serve it.
   */
  Problem unknownModel(String model, @Nullable KeyUse key) {
    boolean allowed = key == null || key.key().limits().allows(model);
    if (allowed && fleets.silent() > 0) {
      return notStarted();
    }
    return Problem.notFound(
        "model_not_found",
        "model",
        "no worker serves the model '"
            + Errors.shown(model)
            + "'; known: "
            + Errors.shown(String.join(", ", models(key))));
  }

  /** The reply while no worker has named a model. */
  Problem notStarted() {
    return Refusals.noWorker(
        "no worker is known to serve the model; workers that have not answered yet: "
            + fleets.silent()
            + Refusals.reasons(fleets.workers()));
  }
}
