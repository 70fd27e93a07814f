package io.kvasir.gateway.route;

import io.kvasir.gateway.worker.WorkerFacts;
import io.kvasir.gateway.worker.WorkerRole;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers of a gateway, grouped by the models that they serve. A LoRA adapter belongs to the
 * fleet of its base model, because it shares the ranks and their load. A fleet exists from the
 * first worker that serves its model until the gateway closes, until the events show that its
 * blocks have another size, or until most of its workers have blocks of another size, most publish
 * events that it does not follow, or none publishes those that it follows.
 *
 * <p>Thread-safe. Reading is O(1) and takes no lock.
 */
public final class ModelFleets implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ModelFleets.class);

  /** Replaced as a whole. */
  private volatile List<FleetWorker> workers;

  private final Ejection ejection;
  private final BiFunction<String, FleetWorker, ModelFleet> newFleet;

  /** The workers that answer requests, by base model. */
  private final Map<String, ModelFleet> fleets = new ConcurrentHashMap<>();

  /** The workers that compute prompts for others, by base model. */
  private final Map<String, ModelFleet> prefills = new ConcurrentHashMap<>();

  /** Fleets whose model has another one, open for their requests. Guarded by this. */
  private final List<ModelFleet> replaced = new ArrayList<>();

  /** The base model of every model that was ever served; its own name if it is no adapter. */
  private final Map<String, String> bases = new ConcurrentHashMap<>();

  /** The models that at least one worker serves, in alphabetical order. Not changed in place. */
  private volatile Set<String> models = Set.of();

  private volatile @Nullable String onlyModel;

  /**
   * Creates the fleets.
   *
   * @param workers all workers
   * @param ejection decides which of them rest because they fail
   * @param newFleet creates a fleet without workers for a base model and the first worker that
   *     serves it
   */
  public ModelFleets(
      List<FleetWorker> workers,
      Ejection ejection,
      BiFunction<String, FleetWorker, ModelFleet> newFleet) {
    this.workers = List.copyOf(workers);
    this.ejection = ejection;
    this.newFleet = newFleet;
  }

  /** {@return all workers, as of now} */
  public List<FleetWorker> workers() {
    return workers;
  }

  /**
   * Adds a worker, which serves nothing until it has said what.
   *
   * @param worker the worker, with a number and a name that no other one has
   */
  public synchronized void add(FleetWorker worker) {
    List<FleetWorker> all = new ArrayList<>(workers);
    all.add(worker);
    workers = List.copyOf(all);
  }

  /**
   * Removes a worker: no request is placed on it any more, and nothing is left of what it held.
   * Requests in progress go on. Not for event loops: routers forget many blocks in milliseconds.
   *
   * @param worker the worker
   */
  public void remove(FleetWorker worker) {
    leave(worker).forEach(fleet -> fleet.remove(worker));
  }

  /** A worker joins no fleet any more; returns all fleets. */
  private synchronized List<ModelFleet> leave(FleetWorker worker) {
    worker.membership().leave();
    workers = workers.stream().filter(each -> each != worker).toList();
    nameModels();
    List<ModelFleet> joined = all();
    joined.addAll(replaced);
    return joined;
  }

  /**
   * {@return the fleet of a model or an adapter; null if no worker ever served it}
   *
   * @param model the name that requests use
   */
  public @Nullable ModelFleet fleet(String model) {
    String base = bases.get(model);
    return base == null ? null : fleets.get(base);
  }

  /**
   * {@return the workers that compute a model's prompts for others; null if there never were any}
   *
   * @param model the name that requests use, or an adapter
   */
  public @Nullable ModelFleet prefillFleet(String model) {
    String base = bases.get(model);
    return base == null ? null : prefills.get(base);
  }

  /** {@return the workers that answer requests; all if there are none} */
  public List<FleetWorker> answering() {
    List<FleetWorker> answering =
        workers.stream().filter(worker -> worker.role() != WorkerRole.PREFILL).toList();
    return answering.isEmpty() ? workers : answering;
  }

  private Map<String, ModelFleet> fleetsOf(FleetWorker worker) {
    return worker.role() == WorkerRole.PREFILL ? prefills : fleets;
  }

  /** {@return the workers of all models and roles} */
  public List<ModelFleet> all() {
    List<ModelFleet> all = new ArrayList<>(fleets.values());
    all.addAll(prefills.values());
    return all;
  }

  /**
   * {@return whether a model is a LoRA adapter of another}
   *
   * @param model the name that requests use
   */
  public boolean isAdapter(String model) {
    return !model.equals(bases.getOrDefault(model, model));
  }

  /**
   * Finds the name under which workers list what a request asks for.
   *
   * @param model the model that it names; null for none
   * @param adapter the LoRA adapter that it names besides; null for none
   * @return the adapter if it is known, and the model's; otherwise the model
   */
  public @Nullable String listed(@Nullable String model, @Nullable String adapter) {
    if (adapter == null || !isAdapter(adapter) || !models.contains(adapter)) {
      return model;
    }
    return model == null || fleet(model) == fleet(adapter) ? adapter : model;
  }

  /** {@return the models that at least one worker serves, in alphabetical order} */
  public Set<String> models() {
    return models;
  }

  /** {@return the only model, adapters aside; null if there are none or several} */
  public @Nullable String onlyModel() {
    return onlyModel;
  }

  private void nameModels() {
    Set<String> served = new TreeSet<>();
    for (FleetWorker worker : workers) {
      if (worker.role() != WorkerRole.PREFILL) {
        served.addAll(worker.models());
      }
    }
    models = Collections.unmodifiableSet(served);
    List<String> own = served.stream().filter(model -> !isAdapter(model)).toList();
    onlyModel = own.size() == 1 ? own.get(0) : null;
  }

  /** {@return what decides which workers rest because they fail} */
  public Ejection ejection() {
    return ejection;
  }

  /**
   * {@return whether at least one worker that serves a model is healthy, or may serve all the same
   * because few workers are left}
   */
  public boolean ready() {
    boolean panics = ejection.panics(workers, "");
    List<FleetWorker> able =
        workers.stream()
            .filter(worker -> !worker.models().isEmpty() && !worker.membership().cordoned())
            .filter(worker -> worker.healthy() || (panics && worker.mayServe()))
            .toList();
    boolean prefills = able.stream().anyMatch(worker -> worker.role() == WorkerRole.PREFILL);
    return able.stream()
        .filter(worker -> worker.role() != WorkerRole.PREFILL)
        .anyMatch(worker -> prefills || worker.servesWhole());
  }

  /** {@return how many workers have not answered since the gateway started} */
  public int silent() {
    return (int) workers.stream().filter(worker -> !worker.hasAnswered()).count();
  }

  /**
   * {@return whether requests of some model may be sent to a worker}
   *
   * @param worker the worker
   * @param nowNs the current time, in nanoseconds
   */
  public boolean takes(FleetWorker worker, long nowNs) {
    return worker.takes(false, nowNs)
        || all().stream()
            .map(ModelFleet::workers)
            .anyMatch(
                fleet ->
                    fleet.contains(worker)
                        && ejection.panics(fleet, "")
                        && worker.takes(true, nowNs));
  }

  /**
   * A worker has said what it serves.
   *
   * @param worker the worker
   * @param models all models that it serves, adapters included
   * @param facts what it says about itself
   */
  synchronized void onAnswer(FleetWorker worker, Set<String> models, WorkerFacts facts) {
    if (worker.membership().hasLeft()) {
      return;
    }
    Map<String, ModelFleet> own = fleetsOf(worker);
    new ArrayList<>(own.entrySet())
        .forEach(each -> adoptBlockSize(each.getKey(), each.getValue(), worker));
    Set<ModelFleet> before = new HashSet<>();
    for (ModelFleet fleet : own.values()) {
      if (fleet.workers().contains(worker)) {
        before.add(fleet);
        fleet.onAnswer(worker);
      }
    }
    promptFleets()
        .forEach(
            (base, fleet) -> {
              fleet.exactness().log(base, fleet::exactness);
              fleet.breaks().log(base);
            });
    if (!worker.models().equals(models) || !worker.facts().equals(facts)) {
      regroup(worker, models, facts, before);
    }
    new ArrayList<>(own.entrySet()).forEach(each -> followMost(each.getKey(), each.getValue()));
  }

  /** Moves a worker, which is in some fleets, to those of the models that it serves now. */
  private void regroup(
      FleetWorker worker, Set<String> models, WorkerFacts facts, Set<ModelFleet> before) {
    Map<String, ModelFleet> own = fleetsOf(worker);
    if (worker.regroupedBy(facts)) {
      before.forEach(fleet -> fleet.remove(worker));
    }
    worker.serves(models, facts);
    Set<ModelFleet> after = new HashSet<>();
    Map<String, String> named = new HashMap<>();
    for (String model : models) {
      String base = facts.adapters().getOrDefault(model, model);
      named.put(model, base);
      after.add(own.compute(base, (any, fleet) -> fleetFor(base, fleet, worker)));
    }
    after.forEach(fleet -> fleet.add(worker));
    bases.putAll(named);
    nameModels();
    before.removeAll(after);
    before.forEach(fleet -> fleet.remove(worker));
  }

  /** The fleet that a worker joins. One without others does not decide how later ones work. */
  private ModelFleet fleetFor(String base, @Nullable ModelFleet fleet, FleetWorker worker) {
    if (fleet == null) {
      return newFleet.apply(base, worker);
    }
    FleetWorker before = worker.membership().before();
    if (FleetFit.fits(fleet, worker) || FleetFit.staying(fleet).anyMatch(each -> each != before)) {
      return fleet;
    }
    ModelFleet next = newFleet.apply(base, worker);
    if (before != null) {
      moveAll(fleet, next);
      fleet.join(worker); // for the requests in progress, when the one before has left
    }
    next.continues(fleet);
    replaced.add(fleet);
    return next;
  }

  /** Replaces a fleet if the events have blocks of another size, and nothing speaks for its own. */
  private void adoptBlockSize(String base, ModelFleet fleet, FleetWorker worker) {
    int found = fleet.workers().contains(worker) ? fleet.blockSizeOfEvents(worker) : 0;
    if (found == 0) {
      return;
    }
    LOG.info(
        "model {}: events of worker {} have blocks of {} tokens, not {}: the router starts again",
        base,
        worker.name(),
        found,
        fleet.tokensPerBlock());
    worker.blockSizeOfEvents(found);
    ModelFleet next = replace(base, fleet, worker);
    if (next == null) {
      worker.blockSizeOfEvents(0);
    } else {
      next.keepBlockSize(); // events that change it again are not followed
    }
  }

  /** Replaces a fleet if most of its workers are alike and do not fit. */
  private void followMost(String base, ModelFleet fleet) {
    FleetWorker misfit = FleetFit.misfit(fleet);
    if (misfit != null) {
      LOG.info("model {}: the router starts again, for workers like {}", base, misfit.name());
      replace(base, fleet, misfit);
    }
  }

  /** Replaces a fleet by one that works as one of its workers; null if its router refuses. */
  private @Nullable ModelFleet replace(String base, ModelFleet fleet, FleetWorker like) {
    ModelFleet next;
    try {
      next = newFleet.apply(base, like);
    } catch (RuntimeException e) {
      fleet.fix();
      LOG.error(
          "model {}: its router refuses blocks of {} tokens", base, like.profile().blockSize(), e);
      return null;
    }
    moveAll(fleet, next);
    next.continues(fleet);
    fleetsOf(like).put(base, next);
    replaced.add(fleet);
    return next;
  }

  private static void moveAll(ModelFleet from, ModelFleet to) {
    from.retire();
    FleetFit.staying(from).forEach(to::add);
  }

  /** A worker has become unhealthy. */
  synchronized void onUnhealthy(FleetWorker worker) {
    all().forEach(fleet -> fleet.onUnhealthy(worker));
  }

  /** Whether nothing is left of the blocks that {@link #onAnswer} has begun to forget. */
  boolean hasForgotten(FleetWorker worker) {
    return all().stream()
        .map(ModelFleet::followed)
        .allMatch(followed -> followed == null || followed.hasForgotten(worker));
  }

  /** {@return the workers that answer requests, by base model} */
  public Map<String, ModelFleet> fleets() {
    return Map.copyOf(fleets);
  }

  /** {@return the workers that compute prompts for others, by base model} */
  public Map<String, ModelFleet> prefillFleets() {
    return Map.copyOf(prefills);
  }

  /**
   * {@return by base model, the workers on which prompts are placed by what ranks hold: those that
   * compute prompts for others, or else those that answer}
   */
  public Map<String, ModelFleet> promptFleets() {
    Map<String, ModelFleet> all = new HashMap<>(fleets);
    all.putAll(prefills);
    return all;
  }

  /** Closes the routers. */
  @Override
  public synchronized void close() {
    all().forEach(ModelFleet::close);
    replaced.forEach(ModelFleet::close);
  }
}
