package io.kvasir.gateway.http;

import io.kvasir.gateway.exchange.EventLoop;
import io.vertx.core.Context;

/**
 * An event loop of Vert.x.
 *
 * @param context a context of that loop
 */
record VertxLoop(Context context) implements EventLoop {

  @Override
  public void execute(Runnable action) {
    context.runOnContext(any -> action.run());
  }

  @Override
  public Timer after(long delayMs, Runnable action) {
    long timer = context.owner().setTimer(delayMs, any -> action.run());
    return () -> context.owner().cancelTimer(timer);
  }
}
