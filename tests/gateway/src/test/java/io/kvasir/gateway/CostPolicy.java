package io.kvasir.gateway;

import io.kvasir.fleet.router.FleetRouterKind;
import io.kvasir.fleet.router.FleetRouterProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;

/** The policy {@code cost} under another name, with calls that a test sees or changes. */
abstract class CostPolicy implements FleetRouterProvider {

  /** What happens instead of a call. */
  interface Hook {
    Object on(Method method, Object[] arguments) throws Throwable;
  }

  static FleetRouterProvider cost() {
    return FleetRouterKind.named("cost");
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

  static <T> T hooked(Class<T> type, Hook hook) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> hook.on(method, arguments)));
  }

  static Object call(Object of, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(of, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }
}
