package io.kvasir.gateway.route;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Whether workers are as the fleet of their model: their blocks have its size, and their events
 * count if it follows any. Stateless.
 */
final class FleetFit {

  private FleetFit() {}

  static boolean fits(ModelFleet fleet, FleetWorker worker) {
    int size = worker.profile().blockSize();
    return worker.publishes() == (fleet.followed() != null)
        && (size == 0 || size == fleet.tokensPerBlock());
  }

  /** The workers of a fleet that do not leave. */
  static Stream<FleetWorker> staying(ModelFleet fleet) {
    return fleet.workers().stream().filter(worker -> !worker.membership().hasLeft());
  }

  /** A worker that does not fit, if most are like it; those without events count if none has. */
  static @Nullable FleetWorker misfit(ModelFleet fleet) {
    if (fleet.isFixed()) {
      return null;
    }
    List<FleetWorker> all = staying(fleet).filter(FleetWorker::publishes).toList();
    all = fleet.followed() == null || all.isEmpty() ? staying(fleet).toList() : all;
    Map<Integer, Integer> sizes = new HashMap<>();
    for (FleetWorker worker : all) {
      int size = worker.profile().blockSize();
      if (!fits(fleet, worker) && 2 * sizes.merge(size, 1, Integer::sum) > all.size()) {
        return worker;
      }
    }
    return null;
  }
}
