package io.kvasir.fleet.router.cost;

import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouterArgs;
import io.kvasir.fleet.router.booking.BookingSettings;
import java.util.List;
import java.util.Map;

/** Policy {@code polled}: matches by block events, load by polled metrics. Stateless. */
public final class PolledRouterProvider implements FleetRouterProvider {

  /** Makes the provider. */
  public PolledRouterProvider() {}

  @Override
  public String name() {
    return "polled";
  }

  @Override
  public List<String> keys() {
    return List.of(BookingSettings.MAX_INDEX_BYTES, BookingSettings.EXPLAIN);
  }

  @Override
  public boolean choosesRanks() {
    return true;
  }

  @Override
  public boolean followsBlocks() {
    return true;
  }

  @Override
  public boolean readsMetrics() {
    return true;
  }

  @Override
  public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
    RouterArgs checked = new RouterArgs(name(), args, keys());
    boolean explain = checked.flag(BookingSettings.EXPLAIN, false);
    long maxBytes = BookingSettings.maxIndexBytes(checked);
    return new PolledRouter(
        name(),
        new NativePrefixIndex(setup.naming(), setup.tokensPerBlock(), maxBytes),
        explain,
        setup);
  }
}
