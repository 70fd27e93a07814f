package io.kvasir.gateway.route;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a gateway, grouped by the models that they serve. A model's fleet exists from the
 * first worker that serves the model until the gateway closes.
 *
 * <p>Thread-safe. Reading is O(1) and takes no lock.
 */
public final class ModelFleets implements AutoCloseable {

  private final List<FleetWorker> workers;
  private final Supplier<ModelFleet> newFleet;
  private final Map<String, ModelFleet> fleets = new ConcurrentHashMap<>();

  /**
   * Creates the fleets.
   *
   * @param workers all workers
   * @param newFleet creates a fleet without workers for a model
   */
  public ModelFleets(List<FleetWorker> workers, Supplier<ModelFleet> newFleet) {
    this.workers = List.copyOf(workers);
    this.newFleet = newFleet;
  }

  /** {@return all workers} */
  public List<FleetWorker> workers() {
    return workers;
  }

  /**
   * {@return the fleet of a model; null if no worker ever served it}
   *
   * @param model the model's name
   */
  public @Nullable ModelFleet fleet(String model) {
    return fleets.get(model);
  }

  /** {@return the models that at least one worker serves, in alphabetical order} */
  public Set<String> models() {
    Set<String> models = new TreeSet<>();
    workers.forEach(worker -> models.addAll(worker.models()));
    return models;
  }

  /** {@return the only model; null if there are none or several} */
  public @Nullable String onlyModel() {
    Set<String> models = models();
    return models.size() == 1 ? models.iterator().next() : null;
  }

  /** {@return whether at least one worker is healthy and serves a model} */
  public boolean ready() {
    return workers.stream().anyMatch(worker -> worker.healthy() && !worker.models().isEmpty());
  }

  /**
   * A worker serves other models from now on.
   *
   * @param worker the worker
   * @param models all models that it serves
   */
  synchronized void onModels(FleetWorker worker, Set<String> models) {
    Set<String> before = worker.models();
    if (before.equals(models)) {
      return;
    }
    worker.models(models);
    for (String model : models) {
      fleets.computeIfAbsent(model, any -> newFleet.get()).add(worker);
    }
    Set<String> gone = new HashSet<>(before);
    gone.removeAll(models);
    for (String model : gone) {
      ModelFleet fleet = fleets.get(model);
      if (fleet != null) {
        fleet.remove(worker);
      }
    }
  }

  /** {@return the fleets by model} */
  public Map<String, ModelFleet> fleets() {
    return Map.copyOf(fleets);
  }

  /** Closes the routers. */
  @Override
  public void close() {
    new ArrayList<>(fleets.values()).forEach(ModelFleet::close);
  }
}
