package io.kvasir.gateway.route;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

  /** A worker that does not fit, if most are like it; those without events count if none has. */
  static @Nullable FleetWorker misfit(ModelFleet fleet) {
    if (fleet.isFixed()) {
      return null;
    }
    List<FleetWorker> all = fleet.workers().stream().filter(FleetWorker::publishes).toList();
    all = fleet.followed() == null || all.isEmpty() ? fleet.workers() : all;
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
