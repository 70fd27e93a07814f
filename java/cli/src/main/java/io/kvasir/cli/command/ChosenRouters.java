package io.kvasir.cli.command;

import io.kvasir.gateway.GatewaySettings;
import io.kvasir.gateway.route.FleetWorker;
import io.kvasir.gateway.route.ModelFleet;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Says which fleet router a gateway has chosen for each model, and whether it follows block events.
 * Stateless.
 */
final class ChosenRouters {

  private ChosenRouters() {}

  /**
   * {@return the routers and the state of block events, on one line}
   *
   * @param settings how the gateway runs
   * @param fleets the fleets by model
   */
  static String of(GatewaySettings settings, Map<String, ModelFleet> fleets) {
    if (fleets.isEmpty()) {
      boolean named = !settings.router().equals(GatewaySettings.AUTO);
      return (named ? settings.router() : "not chosen yet")
          + " (no worker has answered; GET /kvasir/ranks on the admin port shows the router)";
    }
    boolean overHttp = settings.hasEngines(); // others publish no events
    if (fleets.size() == 1) {
      return of(fleets.values().iterator().next(), overHttp);
    }
    return new TreeMap<>(fleets)
        .entrySet().stream()
            .map(fleet -> fleet.getKey() + ": " + of(fleet.getValue(), overHttp))
            .collect(Collectors.joining("; "));
  }

  private static String of(ModelFleet fleet, boolean overHttp) {
    return fleet.router().name() + (overHttp ? ", block events: " + events(fleet) : "");
  }

  private static String events(ModelFleet fleet) {
    long publishing = fleet.workers().stream().filter(FleetWorker::publishes).count();
    if (fleet.followed() == null) {
      return publishing == 0
          ? "not followed (no worker has events= or poll=true)"
          : "not followed (the first worker that answered has no events= or poll=true)";
    }
    return "followed (" + publishing + " of " + fleet.workers().size() + " workers)";
  }
}
