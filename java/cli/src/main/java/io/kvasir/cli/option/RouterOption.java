package io.kvasir.cli.option;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.gateway.disagg.RouterChoice;
import io.kvasir.hash.HashFormat;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Reads a router of a gateway: an option with its name, and one with its args. Immutable.
 *
 * @param option the option with the name
 * @param argsOption the option with the args
 */
record RouterOption(String option, String argsOption) {

  /**
   * Reads a router.
   *
   * @param text the name
   * @param argsText the args, or null
   * @throws UsageException if the router is unknown or needs metrics, which the gateway does not
   *     poll, or has no such args
   */
  RouterChoice read(String text, @Nullable String argsText) {
    Optional<FleetRouterProvider> named = named(text);
    Map<String, Object> args = FleetOptions.argsByKey(argsOption, argsText == null ? "" : argsText);
    if (named.isEmpty() && !args.isEmpty()) {
      throw new UsageException(
          argsOption, "needs " + option + " NAME: routers differ in their args");
    }
    List<String> known = named.map(FleetRouterProvider::keys).orElse(List.of());
    for (String key : args.keySet()) {
      if (!known.contains(key)) {
        throw new UsageException(
            argsOption, "has an unknown key for " + text + "; known: " + known);
      }
    }
    return new RouterChoice(named.map(FleetRouterProvider::name).orElse(RouterChoice.AUTO), args);
  }

  /**
   * Reads a router whose args are tried out at once.
   *
   * @param text the name
   * @param argsText the args, or null
   * @throws UsageException if the router or its args are not allowed
   */
  RouterChoice readTried(String text, @Nullable String argsText) {
    RouterChoice choice = read(text, argsText);
    if (!choice.args().isEmpty()) {
      FleetOptions.requireArgs(
          argsOption, FleetRouterKind.named(choice.name()), choice.args(), HashFormat.KVASIR, 1);
    }
    return choice;
  }

  /** The router; empty for auto. */
  private Optional<FleetRouterProvider> named(String text) {
    List<String> names = new ArrayList<>(List.of(RouterChoice.AUTO));
    for (FleetRouterProvider each : FleetRouterKind.all()) {
      if (!each.readsMetrics()) {
        names.add(each.name());
      } else if (each.name().equalsIgnoreCase(text.strip())) {
        throw new UsageException(
            option,
            "must not be "
                + each.name()
                + ": it needs the engines' metrics, which the gateway does not poll; projected computes"
                + " the load from the requests");
      }
    }
    String name = Values.choice(option, text, names, Function.identity());
    return name.equals(RouterChoice.AUTO)
        ? Optional.empty()
        : Optional.of(FleetRouterKind.named(name));
  }
}
