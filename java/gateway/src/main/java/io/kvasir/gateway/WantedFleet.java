package io.kvasir.gateway;

import io.kvasir.gateway.worker.DnsWorkers;
import io.kvasir.gateway.worker.WorkerRole;
import io.kvasir.gateway.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The engines behind HTTP that a gateway should have. The sources are operators, the settings and
 * DNS. If several describe the same engine, an operator's description wins, then that of the
 * settings, then that of the first DNS name that lists it. Immutable: a change returns a new one.
 *
 * @param addressed workers of the settings that have an address
 * @param listed workers that DNS lists, by the names of the settings
 * @param put workers that operators have described, by name
 * @param removed names of workers of the other sources that operators have removed
 * @param weights weights that operators have given, by name
 * @param cordoned names of workers that get no new requests
 */
record WantedFleet(
    List<WorkerSpec> addressed,
    Map<DnsWorkers, List<WorkerSpec>> listed,
    Map<String, WorkerSpec> put,
    Set<String> removed,
    Map<String, Double> weights,
    Set<String> cordoned) {

  WantedFleet {
    addressed = List.copyOf(addressed);
    listed = Collections.unmodifiableMap(new LinkedHashMap<>(listed));
    put = Collections.unmodifiableMap(new LinkedHashMap<>(put));
    removed = Set.copyOf(removed);
    weights = Map.copyOf(weights);
    cordoned = Set.copyOf(cordoned);
  }

  /** What the settings and DNS say, without changes by operators. */
  static WantedFleet of(List<WorkerSpec> addressed, Map<DnsWorkers, List<WorkerSpec>> listed) {
    return new WantedFleet(addressed, listed, Map.of(), Set.of(), Map.of(), Set.of());
  }

  /** {@return the workers by name} */
  Map<String, WorkerSpec> workers() {
    Map<String, WorkerSpec> workers = listedAndAddressed();
    workers.putAll(put);
    removed.forEach(workers::remove);
    weights.forEach(
        (name, weight) -> workers.computeIfPresent(name, (own, spec) -> spec.withWeight(weight)));
    return workers;
  }

  private Map<String, WorkerSpec> listedAndAddressed() {
    Map<String, WorkerSpec> workers = new LinkedHashMap<>();
    addressed.forEach(spec -> workers.put(spec.name(), spec));
    listed.values().forEach(specs -> specs.forEach(spec -> addFitting(workers, spec)));
    return workers;
  }

  /** One that DNS lists and that does not fit the others is left out. */
  private static void addFitting(Map<String, WorkerSpec> workers, WorkerSpec spec) {
    if (!workers.containsKey(spec.name()) && misfit(workers, spec) == null) {
      workers.put(spec.name(), spec);
    }
  }

  /** Why a worker cannot be beside others, of which those of its own name do not count; or null. */
  private static @Nullable String misfit(Map<String, WorkerSpec> others, WorkerSpec spec) {
    for (WorkerSpec other : others.values()) {
      boolean share =
          !other.name().equals(spec.name())
              && other.disagg().role() != WorkerRole.BOTH
              && spec.disagg().role() != WorkerRole.BOTH;
      if (share && other.disagg().dialect() != spec.disagg().dialect()) {
        return "disagg must be %s, which worker %s of role %s has: each protocol needs a gateway of its own"
            .formatted(other.disagg().dialect().id(), other.name(), other.disagg().role().id());
      }
    }
    return null;
  }

  /** {@return workers that DNS lists, and that are left out because they do not fit, with why} */
  Map<WorkerSpec, String> misfits() {
    Map<String, WorkerSpec> fitting = listedAndAddressed();
    Map<WorkerSpec, String> misfits = new LinkedHashMap<>();
    for (List<WorkerSpec> specs : listed.values()) {
      for (WorkerSpec spec : specs) {
        String why = misfit(fitting, spec);
        if (!fitting.containsKey(spec.name()) && why != null) {
          misfits.put(spec, why);
        }
      }
    }
    return misfits;
  }

  /** The settings have been read again: what operators have changed is over, but for cordons. */
  WantedFleet withSettings(List<WorkerSpec> workers, Map<DnsWorkers, List<WorkerSpec>> names) {
    WantedFleet next = of(workers, names);
    Set<String> stillCordoned = new HashSet<>(cordoned);
    stillCordoned.retainAll(next.workers().keySet());
    return new WantedFleet(workers, names, Map.of(), Set.of(), Map.of(), stillCordoned);
  }

  /**
   * DNS has answered. What operators have changed about a worker is over once no other source has
   * the worker any more that had it.
   */
  WantedFleet withListed(Map<DnsWorkers, List<WorkerSpec>> names) {
    WantedFleet next = new WantedFleet(addressed, names, put, removed, weights, cordoned);
    Set<String> gone = new HashSet<>(listedAndAddressed().keySet());
    gone.removeAll(next.listedAndAddressed().keySet());
    return next.without(gone);
  }

  /** No operator has changed these. */
  private WantedFleet without(Set<String> names) {
    if (names.isEmpty()) {
      return this;
    }
    Map<String, WorkerSpec> otherPut = new LinkedHashMap<>(put);
    otherPut.keySet().removeAll(names);
    Set<String> otherRemoved = new HashSet<>(removed);
    otherRemoved.removeAll(names);
    Map<String, Double> otherWeights = new HashMap<>(weights);
    otherWeights.keySet().removeAll(names);
    Set<String> otherCordoned = new HashSet<>(cordoned);
    otherCordoned.removeAll(names);
    return new WantedFleet(addressed, listed, otherPut, otherRemoved, otherWeights, otherCordoned);
  }

  /**
   * An operator describes a worker. It stays cordoned if it is.
   *
   * @throws IllegalArgumentException if it does not fit the others
   */
  WantedFleet with(WorkerSpec spec) {
    String why = misfit(workers(), spec);
    if (why != null) {
      throw new IllegalArgumentException(why);
    }
    WantedFleet next = without(Set.of(spec.name()));
    Map<String, WorkerSpec> nextPut = new LinkedHashMap<>(next.put);
    nextPut.put(spec.name(), spec);
    return new WantedFleet(addressed, listed, nextPut, next.removed, next.weights, cordoned);
  }

  /** An operator removes a worker. If another source has it, it comes again once that had not. */
  WantedFleet without(String name) {
    WantedFleet next = without(Set.of(name));
    if (!next.listedAndAddressed().containsKey(name)) {
      return next;
    }
    Set<String> nextRemoved = new HashSet<>(next.removed);
    nextRemoved.add(name);
    return new WantedFleet(addressed, listed, next.put, nextRemoved, next.weights, next.cordoned);
  }

  /** An operator gives a worker a weight. */
  WantedFleet weighed(String name, double weight) {
    Map<String, Double> next = new HashMap<>(weights);
    next.put(name, weight);
    return new WantedFleet(addressed, listed, put, removed, next, cordoned);
  }

  /** An operator keeps new requests away from a worker, or no longer. */
  WantedFleet cordoned(String name, boolean isCordoned) {
    List<String> next = new ArrayList<>(cordoned);
    next.remove(name);
    if (isCordoned) {
      next.add(name);
    }
    return new WantedFleet(addressed, listed, put, removed, weights, Set.copyOf(next));
  }
}
