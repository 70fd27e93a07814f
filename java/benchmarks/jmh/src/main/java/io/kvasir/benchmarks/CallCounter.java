package io.kvasir.benchmarks;

import io.kvasir.engine.device.DeviceApi;
import it.unimi.dsi.fastutil.objects.Object2IntOpenHashMap;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Counts the calls to a device by name. Not thread-safe. */
final class CallCounter {

  private final Object2IntOpenHashMap<String> counts = new Object2IntOpenHashMap<>();
  private final DeviceApi counted;
  private final DeviceApi device;

  CallCounter(DeviceApi counted) {
    this.counted = counted;
    this.device =
        (DeviceApi)
            Proxy.newProxyInstance(
                DeviceApi.class.getClassLoader(),
                new Class<?>[] {DeviceApi.class},
                (proxy, method, arguments) -> call(method, arguments));
  }

  private Object call(Method method, Object[] arguments) throws Throwable {
    counts.addTo(method.getName(), 1);
    try {
      return method.invoke(counted, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  /** The counting device, to be used in place of the original. */
  DeviceApi device() {
    return device;
  }

  int count(String name) {
    return counts.getInt(name);
  }

  void reset() {
    counts.clear();
  }
}
