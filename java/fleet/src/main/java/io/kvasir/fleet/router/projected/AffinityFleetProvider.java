package io.kvasir.fleet.router.projected;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouterArgs;
import io.kvasir.fleet.router.booking.BookingRouter;
import io.kvasir.fleet.router.booking.BookingSettings;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Policy {@code affinity}: the score of {@code projected} over what was placed where, for engines
 * that send no block events. Prompts are matched by their text, so nothing is asked of an engine.
 * Stateless.
 */
public final class AffinityFleetProvider implements FleetRouterProvider {

  private static final double TTL_SECONDS = 600;

  /** Makes the provider. */
  public AffinityFleetProvider() {}

  @Override
  public String name() {
    return FleetRouterKind.AFFINITY;
  }

  @Override
  public List<String> keys() {
    return Stream.concat(BookingSettings.KEYS.stream(), Stream.of(BookingSettings.TTL)).toList();
  }

  @Override
  public boolean choosesRanks() {
    return true;
  }

  @Override
  public boolean followsBlocks() {
    return false;
  }

  @Override
  public boolean readsForwardPasses() {
    return true;
  }

  @Override
  public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
    BookingSettings settings =
        BookingSettings.approximate(new RouterArgs(name(), args, keys()), TTL_SECONDS);
    boolean tracksAnswers = settings.options().loads().trackOutputBlocks();
    PlacementLedger ledger = new PlacementLedger(setup, tracksAnswers);
    return new BookingRouter(
        name(),
        settings.approximateIndex(setup),
        new ProjectedSelector(ledger, ""),
        ledger,
        settings.options().byText(settings.ttlMs()),
        setup);
  }
}
