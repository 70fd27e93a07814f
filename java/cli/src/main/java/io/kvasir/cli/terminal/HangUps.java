package io.kvasir.cli.terminal;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** What SIGHUP does to a process. Stateless. */
public final class HangUps {

  private HangUps() {}

  /**
   * Lets SIGHUP run an action, on a thread of its own, instead of ending the process. Where the
   * signal is ignored, as under {@code nohup}, or Java does not pass it on, it stays as it is.
   *
   * @param action what runs for each signal, one at a time
   */
  public static void handle(Runnable action) {
    try {
      // JDK's class for signals is no part of Java's API, and javac warns of each use.
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object runs =
          Proxy.newProxyInstance(
              HangUps.class.getClassLoader(),
              new Class<?>[] {handler},
              (self, method, args) -> called(self, method, args, action));
      Object hangUp = signal.getConstructor(String.class).newInstance("HUP");
      Object unused = signal.getMethod("handle", signal, handler).invoke(null, hangUp, runs);
    } catch (ReflectiveOperationException | IllegalArgumentException e) {
      return; // as it is
    }
  }

  private static Object called(Object self, Method method, Object[] args, Runnable action) {
    return switch (method.getName()) {
      case "equals" -> self == args[0];
      case "hashCode" -> System.identityHashCode(self);
      case "toString" -> "SIGHUP";
      default -> { // each signal has a thread
        synchronized (action) {
          action.run();
        }
        yield method; // the handler returns nothing
      }
    };
  }
}
