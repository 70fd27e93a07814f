package io.kvasir.simulator.fleet;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A fleet router that Kvasir does not come with threw an exception. The message names it. */
public final class FleetRouterFailure extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private FleetRouterFailure(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * What to throw in place of an exception that came out of a router.
   *
   * @param routers the routers of the replay: the one that decides, and those that are only asked
   * @param thrown the exception, or an error of linking a class that was compiled for another
   *     version
   * @return an exception that names those routers that are plug-ins; null if none is, or the
   *     exception names them
   */
  public static @Nullable FleetRouterFailure of(
      List<FleetRouterProvider> routers, Throwable thrown) {
    List<FleetRouterProvider> plugIns =
        routers.stream().filter(each -> !FleetRouterKind.OWN.contains(each.name())).toList();
    if (plugIns.isEmpty() || thrown instanceof FleetRouterFailure) {
      return null;
    }
    String names =
        plugIns.stream()
            .map(each -> "'" + each.name() + "' (" + each.getClass().getName() + ")")
            .collect(Collectors.joining(" or "));
    return new FleetRouterFailure("fleet router " + names + " failed: " + thrown, thrown);
  }
}
