package io.kvasir.gateway;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouteOutcome;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
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
public final class ShiftedClockPolicy implements FleetRouterProvider {

  static final String NAME = "cost_with_shifted_clock";

  /** What the clock is ahead of the machine's. */
  static final AtomicLong SHIFT_NS = new AtomicLong();

  /** Calls of {@link FleetRouter#onAlive} so far. */
  static final AtomicInteger ALIVE = new AtomicInteger();

  /** What became of the requests that waited. */
  static final Queue<Future<?>> WAITING = new ConcurrentLinkedQueue<>();

  /** Creates it; for {@link java.util.ServiceLoader}. */
  public ShiftedClockPolicy() {}

  private static FleetRouterProvider cost() {
    return FleetRouterKind.named("cost");
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public List<String> keys() {
    return cost().keys();
  }

  @Override
  public boolean choosesRanks() {
    return cost().choosesRanks();
  }

  @Override
  public boolean followsBlocks() {
    return cost().followsBlocks();
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
    return (FleetRouter)
        Proxy.newProxyInstance(
            FleetRouter.class.getClassLoader(),
            new Class<?>[] {FleetRouter.class},
            (proxy, method, arguments) -> {
              try {
                Object result = method.invoke(router, arguments);
                if (result instanceof RouteOutcome.Waiting waiting) {
                  WAITING.add(waiting.outcome());
                }
                return result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              } finally {
                if (method.getName().equals("onAlive")) {
                  ALIVE.incrementAndGet();
                }
              }
            });
  }
}
