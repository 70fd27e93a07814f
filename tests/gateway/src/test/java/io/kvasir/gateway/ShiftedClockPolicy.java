package io.kvasir.gateway;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouteOutcome;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The policy {@code cost} with a clock that tests move, a count of the attempts renewed, and the
 * requests that waited.
 */
public final class ShiftedClockPolicy extends CostPolicy {

  static final String NAME = "cost_with_shifted_clock";

  /** What the clock is ahead of the machine's. */
  static final AtomicLong SHIFT_NS = new AtomicLong();

  /** Calls of {@link FleetRouter#onAlive} so far. */
  static final AtomicInteger ALIVE = new AtomicInteger();

  /** What became of the requests that waited. */
  static final Queue<Future<?>> WAITING = new ConcurrentLinkedQueue<>();

  /** Creates it; for {@link java.util.ServiceLoader}. */
  public ShiftedClockPolicy() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
    FleetRouter router =
        cost()
            .create(
                args,
                new FleetRouterSetup(
                    setup.naming(),
                    setup.tokensPerBlock(),
                    () -> setup.clockNs().getAsLong() + SHIFT_NS.get(),
                    setup.environment()));
    return hooked(
        FleetRouter.class,
        (method, arguments) -> {
          Object result = call(router, method, arguments);
          if (method.getName().equals("onAlive")) {
            ALIVE.incrementAndGet();
          }
          if (result instanceof RouteOutcome.Waiting waiting) {
            WAITING.add(waiting.outcome());
          }
          return result;
        });
  }
}
