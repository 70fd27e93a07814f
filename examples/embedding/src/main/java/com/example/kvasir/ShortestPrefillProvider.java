package com.example.kvasir;

import io.kvasir.fleet.index.NativePrefixIndex;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouterArgs;
import io.kvasir.fleet.router.booking.BookingOptions;
import io.kvasir.fleet.router.booking.BookingRouter;
import java.util.List;
import java.util.Map;

/**
 * Policy {@code shortest_prefill}: the rank with the fewest prompt tokens left to compute, the
 * request's own included. {@code META-INF/services} names this class, so that {@code
 * FleetRouterKind} finds it.
 */
public final class ShortestPrefillProvider implements FleetRouterProvider {

  private static final String MAX_INDEX_BYTES = "max_index_bytes";
  private static final long LEAST_INDEX_BYTES = 1L << 20;
  private static final long DEFAULT_INDEX_BYTES = 1L << 30;

  /** For the service loader. */
  public ShortestPrefillProvider() {}

  @Override
  public String name() {
    return "shortest_prefill";
  }

  @Override
  public List<String> keys() {
    return List.of(MAX_INDEX_BYTES);
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
  public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
    RouterArgs given = new RouterArgs(name(), args, keys());
    long maxBytes = given.longInteger(MAX_INDEX_BYTES, LEAST_INDEX_BYTES, DEFAULT_INDEX_BYTES);
    return new BookingRouter(
        name(),
        new NativePrefixIndex(setup.naming(), setup.tokensPerBlock(), maxBytes),
        new ShortestPrefillSelector(),
        BookingOptions.DEFAULT.withExplain(true),
        setup);
  }
}
