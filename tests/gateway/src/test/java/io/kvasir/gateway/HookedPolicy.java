package io.kvasir.gateway;

import io.kvasir.fleet.index.PrefixIndex;
import io.kvasir.fleet.router.FleetRouter;
import io.kvasir.fleet.router.FleetRouterSetup;
import io.kvasir.fleet.router.RouteOutcome;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** The policy {@code cost}, whose outcomes a test changes, and whose calls it sees. */
public final class HookedPolicy extends CostPolicy {

  static final String NAME = "cost_with_hooks";

  /** Changes what {@link FleetRouter#route} answers. */
  static volatile UnaryOperator<RouteOutcome> outcome = UnaryOperator.identity();

  /** What {@link #create} throws; null for nothing. */
  static volatile String failure;

  /** What {@link FleetRouter#onFinished} throws; null for nothing. */
  static volatile String endFailure;

  /** Calls of {@link FleetRouter#onFinished} so far. */
  static final AtomicInteger FINISHED = new AtomicInteger();

  /** The threads on which the gateway itself has asked what ranks hold. */
  static final Set<String> MATCHERS = ConcurrentHashMap.newKeySet();

  /** The threads on which routers have forgotten ranks. */
  static final Set<String> REMOVERS = ConcurrentHashMap.newKeySet();

  /** Creates it; for {@link java.util.ServiceLoader}. */
  public HookedPolicy() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public FleetRouter create(Map<String, ?> args, FleetRouterSetup setup) {
    if (failure != null) {
      throw new IllegalStateException(failure);
    }
    FleetRouter router = cost().create(args, setup);
    PrefixIndex index = router.index();
    PrefixIndex seen = index == null ? null : seen(index);
    return hooked(
        FleetRouter.class,
        (method, arguments) ->
            switch (method.getName()) {
              case "index" -> seen;
              case "route" -> outcome.apply((RouteOutcome) call(router, method, arguments));
              case "removeRank" -> {
                REMOVERS.add(Thread.currentThread().getName());
                yield call(router, method, arguments);
              }
              case "onFinished" -> {
                FINISHED.incrementAndGet();
                if (endFailure != null) {
                  throw new IllegalStateException(endFailure);
                }
                yield call(router, method, arguments);
              }
              default -> call(router, method, arguments);
            });
  }

  private static PrefixIndex seen(PrefixIndex index) {
    return hooked(
        PrefixIndex.class,
        (method, arguments) -> {
          Object answer = call(index, method, arguments);
          switch (method.getName()) {
            case "matchAll" -> MATCHERS.add(Thread.currentThread().getName());
            case "confirmed" -> answer = seen((PrefixIndex) answer);
            default -> {}
          }
          return answer;
        });
  }
}
