package io.kvasir.gateway;

import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import io.kvasir.fleet.router.FleetRouterSetup;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The policy {@code cost} with a clock that tests move, and a count of the attempts renewed. */
public final class ShiftedClockPolicy implements FleetRouterProvider {

  static final String NAME = "cost_with_shifted_clock";

  /** What the clock is ahead of the machine's. */
  static final AtomicLong SHIFT_NS = new AtomicLong();

  /** Calls of {@link FleetRouter#onAlive} so far. */
  static final AtomicInteger ALIVE = new AtomicInteger();

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
                return method.invoke(router, arguments);
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
