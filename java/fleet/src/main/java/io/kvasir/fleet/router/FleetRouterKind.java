package io.kvasir.fleet.router;

import io.kvasir.model.Choice;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/**
 * The fleet routers by name: the eight that Kvasir comes with, and those of every {@link
 * FleetRouterProvider} that the class path adds. Stateless.
 */
public final class FleetRouterKind {

  /** Name of the policy that weighs matches against predicted load. */
  public static final String COST = "cost";

  /** Name of the policy that expects times to the first token. */
  public static final String PROJECTED = "projected";

  /** Name of the policy that expects times to the first token, for engines without block events. */
  public static final String AFFINITY = "affinity";

  /** Names of the policies that Kvasir comes with, in the order of their documentation. */
  public static final List<String> OWN =
      List.of(
          "round_robin",
          "load_balancing",
          "kv_cache_aware",
          "conversation",
          COST,
          "approximate",
          "polled",
          PROJECTED,
          AFFINITY);

  private static final class Known {
    static final FleetRouterProvider[] PROVIDERS = load();
  }

  private FleetRouterKind() {}

  private static FleetRouterProvider[] load() {
    FleetRouterProvider[] providers =
        ServiceLoader.load(FleetRouterProvider.class, FleetRouterProvider.class.getClassLoader())
            .stream()
            .map(ServiceLoader.Provider::get)
            .sorted(
                Comparator.comparingInt(FleetRouterKind::position)
                    .thenComparing(FleetRouterProvider::name))
            .toArray(FleetRouterProvider[]::new);
    for (int i = 1; i < providers.length; i++) {
      if (providers[i].name().equals(providers[i - 1].name())) {
        throw new ServiceConfigurationError(
            "two fleet routers have the name " + providers[i].name());
      }
    }
    return providers;
  }

  private static int position(FleetRouterProvider provider) {
    int own = OWN.indexOf(provider.name());
    return own < 0 ? OWN.size() : own;
  }

  /** {@return all policies, Kvasir's own first, then the others by name} */
  public static List<FleetRouterProvider> all() {
    return List.copyOf(Arrays.asList(Known.PROVIDERS));
  }

  /**
   * Finds a policy by name.
   *
   * @param name its name in upper or lower case; null is {@code round_robin}
   * @return its provider
   * @throws IllegalArgumentException listing the known names, if this is none of them
   */
  public static FleetRouterProvider named(@Nullable String name) {
    return Choice.named(
        "router",
        Known.PROVIDERS,
        FleetRouterProvider::name,
        name == null ? OWN.get(0) : name.toLowerCase(Locale.ROOT));
  }
}
